# SPDX-License-Identifier: Apache-2.0
"""What bounds a kernel: figures with their sources, the hot loop, the compiler's reasons."""
import pathlib
import shutil
import sys

from harness import *

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import profile_corpus

SOFTMAX = pathlib.Path(__file__).resolve().parents[3] / "operators" / "softmax" / "baseline.cpp"


class Profiling(Case):
    def profiled(self, *args):
        outcome = self.run_expecting(HOLDS, "--json", "profile", *args)
        return json.loads(outcome.out)["profile"]

    def test_a_function_call_in_the_hot_loop(self):
        profile = self.profiled(SOFTMAX, "-d", "softmax_f32", "--workload", "rows=128")
        self.assertEqual(profile["schema"], "kernwright.profile/1")
        figures = {f["name"]: f for f in profile["figures"]}
        self.assertGreater(figures["call"]["value"], 10_000)
        for name in ("flop_share", "bandwidth_share", "no_vectorize", "fast_math"):
            self.assertGreater(figures[name]["value"], 0)
            self.assertTrue(figures[name]["source"])
        codes = {r["line"]: r["code"] for r in profile["remarks"] if not r["vectorized"]}
        self.assertIn("reduction_order", codes.values())
        called = [l for l in profile["loops"] if l["calls"] > 0]
        self.assertEqual(len(called), 1, profile["loops"])
        text = SOFTMAX.read_text().splitlines()
        self.assertIn("expf", text[called[0]["line"] - 1])
        if any("where the time goes" in m for m in profile["missing"]):
            self.skipTest("this user may not sample: " + " ".join(profile["missing"]))
        self.assertTrue(called[0]["hot"], profile["loops"])
        self.assertGreater(called[0]["share"], 0.2)
        self.assertEqual(profile["state"]["word"], "vectorisation")
        self.assertGreater(profile["state"]["headroom"], 5)

    def test_in_words(self):
        outcome = self.run_expecting(HOLDS, "profile", SOFTMAX, "-d", "softmax_f32", "--workload", "rows=128")
        self.expect(outcome, HOLDS, "bottleneck bound by missing vectorisation", "to the nearest ceiling", "the compiler says",
                    "innermost loop", "median of a call")

    def test_a_wrong_kernel_has_no_profile(self):
        source = self.write("wrong.cpp", SOFTMAX.read_text().replace("expf(x[i] - top)", "expf(0.5f * (x[i] - top))"))
        outcome = self.run_expecting(FAILS, "profile", source, "-d", "softmax_f32", "--workload", "rows=128")
        self.expect(outcome, FAILS, "REJECT_WRONG")

    def test_bad_input(self):
        self.assertIn("bare source", self.error_of("profile", SOFTMAX)["message"])
        self.assertIn("no workload matches", self.error_of("profile", SOFTMAX, "-d", "softmax_f32", "--workload", "rows=129")["message"])

    def test_what_the_machine_or_its_tools_lack_is_named(self):
        profile = self.profiled(SOFTMAX, "-d", "softmax_f32", "--workload", "rows=128")
        figures = {f["name"] for f in profile["figures"]}
        missing = " ".join(profile["missing"])
        self.assertNotEqual("ipc" in figures, "hardware counters" in missing, missing)
        where_time_goes = [l for l in profile["loops"] if (l["hot"] or l["share"] >= 0.1) and l["calls"] == 0]
        if shutil.which("llvm-mca-19") is None and shutil.which("llvm-mca") is None:
            self.assertIn("apt install llvm-19", missing)
            return
        self.assertTrue(where_time_goes, profile["loops"])
        for loop in where_time_goes:
            self.assertIn("kw_turn:", loop["code"])
            self.assertIn(("skylake-avx512", False), {(e["model"], e["own"]) for e in loop["pipeline"]}, missing)
            for estimate in loop["pipeline"]:
                self.assertGreater(estimate["cycles"], 0)
                self.assertGreater(estimate["throughput"], 0)
                self.assertIn("llvm-mca", estimate["source"])

    def test_sizes(self):
        profile = self.profiled(SOFTMAX, "-d", "softmax_f32", "--workload", "rows=128", "--sweep", "rows", "--budget", "15s")
        sizes = profile["sweep"]
        self.assertGreaterEqual(len(sizes), 3)
        warm = [s for s in sizes if "warm" in s["source"]]
        self.assertEqual([s["bytes"] for s in warm], sorted(s["bytes"] for s in warm))
        self.assertIn("L2", [s["level"] for s in warm])
        for s in sizes:
            self.assertEqual(s["axis"], "rows")
            self.assertEqual(s["bytes"], 8 * 512 * s["value"])
            self.assertAlmostEqual(s["ns_per_byte"], s["ns"] / s["bytes"])
        error = self.error_of("profile", SOFTMAX, "-d", "softmax_f32", "--workload", "rows=128", "--sweep", "columns")
        self.assertIn("no variable axis `columns`", error["message"])

    def test_threads(self):
        cpus = len(os.sched_getaffinity(0))
        profile = self.profiled(SOFTMAX, "-d", "softmax_f32", "--workload", "rows=128", "--scaling")
        self.assertEqual([p["threads"] for p in profile["scaling"]][:1], [1])
        self.assertEqual(profile["scaling"][-1]["threads"], cpus)
        for p in profile["scaling"]:
            self.assertAlmostEqual(p["speedup"], profile["scaling"][0]["ns"] / p["ns"])
            self.assertAlmostEqual(p["efficiency"], p["speedup"] / p["threads"])
        self.run_expecting(HOLDS, "profile", SOFTMAX, "-d", "softmax_f32", "--workload", "rows=128", "--scaling", says=["per thread"])

    def test_kernels_whose_bottleneck_is_known(self):
        """The clearest of tests/corpus; all of them: make profile-corpus."""
        for name in ("chase_l1", "iterate_one_chain", "smooth_plain", "exp_sum_call", "sum_in_order", "add_tiny"):
            kernel = profile_corpus.Labelled(profile_corpus.CORPUS / "kernels" / f"{name}.cpp")
            said = []
            while kernel.word not in said and len(said) < 3:  # something else may run
                command = profile_corpus.command(BIN, kernel)[1:]
                said.append(profile_corpus.said(self.run_expecting(HOLDS, *command).json["profile"]))
            with self.subTest(name):
                self.assertIn(kernel.word, said)

    def test_the_corpus_covers_every_word_twice(self):
        kernels = profile_corpus.labelled()
        self.assertGreaterEqual(len(kernels), 40)
        for part in profile_corpus.PARTS:
            self.assertEqual({k.word for k in kernels if k.part == part}, set(profile_corpus.WORDS) - {"unknown"})

    def imported(self, name):
        path = SOFTMAX.parents[2] / "tests" / "golden" / "formats" / "profiles" / name
        outcome = self.run_expecting(HOLDS, "--json", "profile", "--import", path)
        profile = outcome.json["profile"]
        self.assertEqual(profile["schema"], "kernwright.profile/1")
        self.run_expecting(HOLDS, "profile", "--import", path, says=["bottleneck", "launch"])
        return profile["state"]["word"]

    def test_imports(self):
        for name, word in (("ncu_raw.csv", "latency"), ("ncu_details.csv", "memory"), ("ncu_details.txt", "tail"),
                           ("nsys.csv", "launch"), ("nsys_sum.csv", "unknown"), ("torch.json", "tail")):
            with self.subTest(name):
                self.assertEqual(self.imported(name), word)

    def test_bad_imports(self):
        cut = self.write("cut.csv", 'Start (ns),Duration (ns),GrdX,Name\n1,2,3,k\n1,2\n')
        self.assertEqual(self.error_of("profile", "--import", cut)["where"], f"{cut}:3")
        self.error_of("profile", "--import", self.write("x", "nothing of the kind"))
        self.error_of("profile")


if __name__ == "__main__":
    unittest.main()
