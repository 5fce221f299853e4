# SPDX-License-Identifier: Apache-2.0
"""What bounds a kernel: figures with their sources, the hot loop, the compiler's reasons."""
import pathlib

from harness import *

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
