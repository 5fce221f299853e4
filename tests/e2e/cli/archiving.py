# SPDX-License-Identifier: Apache-2.0
"""What happened before: archive, replay, and shipping a kernel out of the archive."""
import sqlite3

from harness import *

# Softmax of {0, ln 2, ln 3, ...} is k / sum: known without a library.
C_PROGRAM = """#include "softmax_f32.h"
#include <math.h>
#include <stdio.h>

int main(void) {
  enum { rows = 2, n = 19 };
  _Alignas(64) float x[rows * n], y[rows * n];
  for (int i = 0; i < rows * n; ++i)
    x[i] = logf((float)(i % n + 1)) + (float)(i / n);
  if (kernel(x, y, rows, n) != 0)
    return 2;
  for (int i = 0; i < rows * n; ++i)
    if (fabsf(y[i] - (float)(i % n + 1) / (n * (n + 1) / 2)) > 1e-6f)
      return 3;
  puts("right");
  return 0;
}
"""

TORCH_PROGRAM = """
import sys
import torch
sys.path.insert(0, sys.argv[1])
import torch_op
x = torch.randn(3, 517)[:, 1:]  # neither contiguous nor aligned
got = torch.ops.kernwright.softmax_f32(x)
assert torch.allclose(got, torch.softmax(x, -1), rtol=1e-5, atol=1e-7), (got - torch.softmax(x, -1)).abs().max()
for bad in (x.double(), x[0]):
    try:
        torch.ops.kernwright.softmax_f32(bad)
    except (ValueError, IndexError, RuntimeError):
        continue
    raise SystemExit("a wrong argument was taken")
print("right")
"""


def has_torch():
    return subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True, check=False).returncode == 0


class Archiving(Case):
    @classmethod
    def setUpClass(cls):
        source = pathlib.Path(tempfile.mkdtemp()) / "good.cpp"
        cls.addClassCleanup(shutil.rmtree, source.parent)
        cls.ids = {}
        for name, text in {"good": softmax(), "wrong": softmax(after="  y[-1] *= 1.5f;\n"), "broken": softmax(before="  oops;\n")}.items():
            source = source.with_stem(name)
            source.write_text(text)
            cls.ids[name] = kernwright("--json", "evaluate", source, *SOFTMAX).json["evaluations"][0]["probe"]["id"]

    def test_list(self):
        listed = self.run_expecting(HOLDS, "--json", "archive", "list").json
        words = {p["id"]: (p["word"], p["finding"], p["decision"]) for p in listed["probes"]}
        self.assertEqual(words[self.ids["good"]], ("CORRECT", "NONE", "archive"))
        self.assertEqual(words[self.ids["wrong"]], ("REJECTED", "REJECT_WRONG", "reject"))
        self.assertEqual(words[self.ids["broken"]], ("REJECTED", "REJECT_BUILD", "reject"))
        self.run_expecting(HOLDS, "archive", "list", says=[self.ids["good"][:12], "REJECT_BUILD", "record(s)"])
        rejected = self.run_expecting(HOLDS, "--json", "archive", "list", "--decision", "reject").json["probes"]
        self.assertEqual({p["id"] for p in rejected}, {self.ids["wrong"], self.ids["broken"]})
        self.assertEqual(len(self.run_expecting(HOLDS, "--json", "archive", "list", "--limit", 1).json["probes"]), 1)
        self.assertEqual(self.run_expecting(HOLDS, "--json", "archive", "list", "-d", "other").json["probes"], [])

    def test_show(self):
        self.run_expecting(HOLDS, "archive", "show", self.ids["wrong"][:12],
                           says=["REJECT_WRONG", "y[-1] *= 1.5f;", self.ids["wrong"], "reproduce kernwright replay"])
        shown = self.run_expecting(HOLDS, "--json", "archive", "show", self.ids["wrong"]).json
        self.assertEqual((shown["schema"], shown["id"]), ("kernwright.probe/1", self.ids["wrong"]))
        self.assertIn("no probe", self.error_of("archive", "show", "ffffffffffffffffff")["message"])

    def test_copy_is_verified(self):
        before = self.run_expecting(HOLDS, "--json", "archive", "verify").json
        self.assertTrue(before["intact"])
        copy = self.dir / "copy"
        self.run_expecting(HOLDS, "archive", "export", copy)
        after = self.run_expecting(HOLDS, "--state", copy, "--json", "archive", "verify").json
        self.assertEqual(after, before)
        self.run_expecting(HOLDS, "--state", copy, "archive", "show", self.ids["good"][:12])

    def test_tampering_is_found(self):
        copy = self.dir / "copy"
        self.run_expecting(HOLDS, "archive", "export", copy)
        with sqlite3.connect(copy / "archive.sqlite") as db:
            tables = [name for (name,) in db.execute("select name from sqlite_master where type = 'table'")]
            self.assertIn("probes", tables)
            changed = db.execute("update probes set json = replace(json, 'REJECT_WRONG', 'NONE') where id = ?", (self.ids["wrong"],)).rowcount
            self.assertEqual(changed, 1)
        db.close()
        self.run_expecting(FAILS, "--state", copy, "archive", "verify", says=["BROKEN", self.ids["wrong"]])
        report = self.run_expecting(FAILS, "--state", copy, "--json", "archive", "verify").json
        self.assertFalse(report["intact"])
        self.assertEqual(report["broken"]["id"], self.ids["wrong"])

    def test_replay(self):
        for name, id_ in self.ids.items():
            with self.subTest(name):
                self.run_expecting(HOLDS, "replay", id_[:12], says=["no drift"])
        replayed = self.run_expecting(HOLDS, "--json", "replay", self.ids["wrong"]).json
        self.assertEqual(replayed["drift"], [])
        before, after = (replayed[k]["verdict"]["mismatch"] for k in ("before", "after"))
        self.assertEqual((before["got"], before["want"]), (after["got"], after["want"]))  # the very same inputs
        self.run_expecting(HOLDS, "replay", self.ids["good"], "--fresh", "--gate", "gate", says=["59 trials clean"])

    def test_replay_of_every_workload_says_what_it_excludes(self):
        arguments = ("replay", self.ids["good"], "--trials", "20", "--all-workloads")
        excluded = self.run_expecting(HOLDS, "--json", *arguments).json["excluded"]
        self.assertEqual(len(excluded["workloads"]), 8)
        for w in excluded["workloads"]:
            self.assertEqual((w["trials"], w["failures"]), (20, 0))
            self.assertAlmostEqual(w["failure_rate_bound"], 1 - 0.05 ** (1 / 20))
        self.assertAlmostEqual(excluded["joint_miss_probability_at_1_percent"], 0.99 ** 160)
        self.run_expecting(HOLDS, *arguments, says=["160 trials clean over 8 workloads", "would pass all 160 trials"])

    def test_replay_reports_drift(self):
        # The definition is not the one it was judged by any more.
        operators = self.dir / "ops"
        self.run_expecting(HOLDS, "init", "op", "scale", "--dir", operators)
        judged = self.run_expecting(HOLDS, "--json", "--operators", operators, "evaluate", operators / "baseline.cpp", "-d", "scale",
                                    "--gate", "smoke").json
        id_ = judged["evaluations"][0]["probe"]["id"]
        oracle = operators / "oracle.cpp"
        oracle.write_text(oracle.read_text().replace("product + offset;", "product - offset;", 1))
        self.run_expecting(FAILS, "--operators", operators, "replay", id_, says=["drift: definition changed", "drift: verdict on correctness changed: pass -> fail"])

    def test_ship_a_kernel(self):
        out = self.dir / "shipped"
        files = self.run_expecting(HOLDS, "--json", "export", self.ids["good"], "-o", out).json["files"]
        self.assertEqual({pathlib.Path(f).name for f in files},
                         {"good.cpp", "kernwright.h", "runtime.cpp", "softmax_f32.h", "libsoftmax_f32.so", "torch_op.py", "solution.json",
                          "verdict.json", "README.md"})
        program = self.write("main.c", C_PROGRAM)
        built = subprocess.run(["gcc-12", "-std=c11", "-Wall", "-Wextra", "-Werror", program, "-I", out, "-L", out, "-lsoftmax_f32", "-lm",
                                f"-Wl,-rpath,{out}", "-o", self.dir / "main"], capture_output=True, text=True, check=False)
        self.assertEqual(built.returncode, 0, built.stderr)
        ran = subprocess.run([self.dir / "main"], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (0, "right\n"), ran.stderr)
        # What was shipped is a solution that is judged as before.
        self.run_expecting(HOLDS, "evaluate", out / "solution.json", "--gate", "smoke", "--workload", "rows=128", says=["CORRECT"])
        json.loads((out / "verdict.json").read_text())
        if not has_torch():
            self.skipTest("torch is not installed: the custom op was written but not called")
        ran = subprocess.run(["/usr/bin/python3", "-c", TORCH_PROGRAM, out], capture_output=True, text=True, timeout=50, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (0, "right\n"), ran.stderr)

    def test_nothing_wrong_or_overwriting_is_shipped(self):
        self.assertIn("did not pass", self.error_of("export", self.ids["wrong"], "-o", self.dir / "out")["message"])
        self.assertFalse((self.dir / "out").exists())
        self.write("full/file", "mine")
        self.assertIn("not empty", self.error_of("export", self.ids["good"], "-o", self.dir / "full")["message"])
        self.assertEqual([p.name for p in (self.dir / "full").iterdir()], ["file"])


class Doctor(Case):
    def test_quick(self):
        text = kernwright("doctor", "--quick")
        self.assertIn(text.code, (HOLDS, FAILS))
        report = self.expect(kernwright("--json", "doctor", "--quick"), text.code).json
        self.assertEqual(report["healthy"], text.code == HOLDS)
        lines = {line["subject"]: line for line in report["lines"]}
        for subject in ("cpu", "target cpu", "sandbox", "python"):
            self.assertIn(subject, lines)
            self.assertIn(" ".join(lines[subject]["text"].split()), text.text)
        for line in report["lines"]:
            if line["state"] in ("missing", "weak", "partial"):
                self.assertTrue(line["remedy"], line)
        self.assertEqual(report["ceilings"], [])

    def test_no_compiler(self):
        nowhere = self.dir / "empty"
        nowhere.mkdir()
        env = environment(PATH=str(nowhere))
        report = self.expect(kernwright("--json", "doctor", "--quick", env=env), FAILS).json
        target = next(line for line in report["lines"] if line["subject"] == "target cpu")
        self.assertEqual((target["state"], target["blocking"]), ("missing", True))
        self.assertIn("g++", target["remedy"])
        source = self.write("good.cpp", softmax())
        outcome = kernwright("evaluate", source, *SOFTMAX, env=env)
        self.assertIn(outcome.code, (BAD_INPUT, OUR_SIDE))
        self.expect(outcome, outcome.code, "remedy: ", "g++")


if __name__ == "__main__":
    unittest.main()
