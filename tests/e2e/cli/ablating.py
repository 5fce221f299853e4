# SPDX-License-Identifier: Apache-2.0
"""`ablate`: arms at equal budget, killed and resumed. Which arm is faster is not asked here, and a busy machine may
leave races open: what was run is complete all the same."""
import shutil
import time

from harness import *

# However busy the machine is, time does not decide whether arms match.
TINY = ["--workload", "rows=17", "--least-window", 1, "--wall-factor", 1000, "--evaluations", 6]


class Ablating(Case):
    def setUp(self):
        super().setUp()
        self.state = self.dir / "state"

    def ablate(self, *more, limit=200):
        outcome = kernwright("--state", self.state, "--json", "ablate", *more, limit=limit)
        self.assertIn(outcome.code, (HOLDS, FAILS), outcome.out + outcome.err)
        result = outcome.json
        ranked = all("refused" not in c for c in result["comparisons"])
        self.assertEqual(outcome.code, HOLDS if ranked and result["complete"] else FAILS)
        return result

    def folder(self, number="0001"):
        return self.state / "ablations" / number

    def arms_done(self):
        return {p.parent: (p.read_bytes(), p.stat().st_mtime_ns) for p in self.folder().glob("*/seed-*/*/run.json")}

    def probes(self, arm):
        listed = self.run_expecting(HOLDS, "--state", arm, "--json", "archive", "list", "--limit", 0).json["probes"]
        return [p["id"] for p in listed]

    def wait_for(self, process, log, what, seconds=150):
        end = time.monotonic() + seconds
        while time.monotonic() < end and process.poll() is None and not what():
            time.sleep(0.01)
        self.assertIsNone(process.poll(), pathlib.Path(log).read_text())
        self.assertTrue(what(), pathlib.Path(log).read_text())

    def check_whole(self, result, arms, seeds):
        """Every arm with its budget on the same workloads; every pair compared, or its race still open."""
        self.assertEqual([(c["seed"], c["arm"]) for c in result["cells"]], [(s, a) for s in range(1, seeds + 1) for a in arms])
        self.assertEqual({c["evaluations"] for c in result["cells"]}, {6})
        for cell in result["cells"]:
            self.assertLessEqual(cell["build_seconds"], cell["seconds"])
        self.assertEqual(result["reference"], "full")
        runs = [json.loads(p.read_text()) for p in self.folder().glob("*/seed-*/*/run.json")]
        self.assertEqual(len({tuple(r["workloads"]) for r in runs}), 1)
        (comparison,) = result["comparisons"]
        self.assertEqual(comparison["pairs"] + comparison["missing"], seeds)
        raced = [c for c in result["cells"] if c["over_reference"] is not None and c["arm"] != result["reference"]]
        self.assertEqual(len(raced), comparison["pairs"])
        if comparison["pairs"]:
            product = 1.0
            for cell in raced:
                product *= cell["over_reference"]
            self.assertAlmostEqual(comparison["geomean"], product ** (1 / len(raced)), places=9)
            self.assertLessEqual(comparison["low"], comparison["low95"])
            self.assertLessEqual(comparison["low95"], comparison["geomean"] + 1e-9)
        page = (self.folder() / "report.html").read_text()
        self.assertIn("softmax_f32", page)
        self.assertNotIn("<script", page)
        self.assertEqual(len((self.folder() / "cells.csv").read_text().splitlines()), 1 + len(arms) * seeds)
        self.assertEqual(json.loads((self.folder() / "report.json").read_text()), result)

    def test_killed_twice_and_resumed(self):
        process, log = start("--state", self.state, "ablate", "softmax_f32", "--arms", "full,random", "--seeds", 2, *TINY)
        self.addCleanup(process.kill)
        self.wait_for(process, log, lambda: len(self.arms_done()) == 1)
        done = self.arms_done()
        (first,) = done
        probes = self.probes(first)
        self.assertGreaterEqual(len(probes), 6)
        # In the middle of the second arm, after at least one evaluation.
        second = lambda: [j for j in self.folder().glob("*/seed-*/*/runs/0001/journal.jsonl")
                          if first not in j.parents and b'"evaluate"' in j.read_bytes()]
        self.wait_for(process, log, lambda: second() or len(self.arms_done()) > 1)
        stop(process, KILL)
        done = self.arms_done()
        journals = {j: j.read_bytes().rsplit(b"\n", 1)[0] for j in self.folder().glob("*/seed-*/*/runs/*/journal.jsonl")}
        self.assertGreaterEqual(len(journals), 2)

        # A kill between the end of a run and the note of it: the run is gone through again by its journal alone.
        noted = (first / "run.json").read_bytes()
        (first / "run.json").unlink()
        process, log = start("--state", self.state, "ablate", "--resume", "0001")
        self.addCleanup(process.kill)
        self.wait_for(process, log, lambda: (first / "run.json").exists())
        code = stop(process, INT)
        text = " ".join(pathlib.Path(log).read_text().split())
        self.assertEqual(code, INTERRUPTED, text)
        self.assertIn("interrupted: nothing is lost. Continue with: kernwright ablate --resume 0001", text)
        self.assertIn("figures are not final", text)
        self.assertEqual((first / "run.json").read_bytes(), noted)
        self.assertEqual(self.probes(first), probes)

        done = self.arms_done()
        result = self.ablate("--resume", "0001")
        self.check_whole(result, ["full", "random"], 2)
        after = self.arms_done()
        self.assertEqual({arm: after[arm] for arm in done}, done, "a finished run was repeated")
        for journal, before in journals.items():
            self.assertTrue(journal.read_bytes().startswith(before), f"{journal} was begun anew")
        self.assertEqual(len(after), 4)
        for arm in after:
            self.assertEqual(len(list((arm / "runs").iterdir())), 1)
            self.run_expecting(HOLDS, "--state", arm, "archive", "verify", says=["intact"])
        self.assertGreater(sum(c["build_seconds"] for c in result["cells"]), 0)  # nobody built all of it before
        strategies = {p.name: json.loads((p / "run.json").read_text())["arm"] for p in after}
        self.assertEqual(strategies, {"full": "full", "random": "random"})

        # Nothing is left but races that the machine was too busy for.
        again = self.ablate("--resume", "0001")
        self.assertEqual(self.arms_done(), after)
        self.assertEqual(again["cells"][0]["champion"], result["cells"][0]["champion"])
        if result["complete"]:
            self.assertEqual(again, result)

    def test_sessions_share_an_archive_and_a_budget(self):
        result = self.ablate("softmax_f32", "--arms", "full,no-memory", "--sessions", 2, "--seeds", 1, *TINY)
        self.check_whole(result, ["full", "no-memory"], 1)
        for arm in self.arms_done():
            runs = self.run_expecting(HOLDS, "--state", arm, "--json", "archive", "list", "--runs").json["runs"]
            self.assertEqual([(r["id"], r["state"]) for r in runs], [("0001", "finished"), ("0002", "finished")])
            effects = [json.loads(line) for line in (arm / "runs/0002/journal.jsonl").read_text().splitlines()[1:]]
            (known,) = [e["result"] for e in effects if e["effect"] == "known"]
            self.assertTrue(known, "the second session knows nothing of the first")

    def test_what_was_not_matched_is_not_ranked(self):
        self.ablate("softmax_f32", "--arms", "full,random", "--seeds", 1, *TINY)
        run = self.folder() / "softmax_f32/seed-1/random/run.json"
        document = json.loads(run.read_text())
        document["evaluations"] = 5
        run.write_text(json.dumps(document))
        outcome = self.run_expecting(FAILS, "--state", self.state, "ablate", "--resume", "0001",
                                     says=["are not ranked", "`random` made 5 evaluations, `full` 6", "no ranking"])
        self.assertNotIn("NaN", outcome.text)

    def test_what_cannot_be_compared_is_refused(self):
        error = self.error_of("ablate")
        self.assertIn("name definitions", error["message"])
        self.error_of("ablate", "softmax_f32", "--resume", "0001")
        self.assertIn("softmax_f32", self.error_of("ablate", "softmax_f33")["remedy"])
        self.assertIn("no kernel templates", self.error_of("ablate", "topk_f32_k8")["message"])
        self.assertIn("named twice", self.error_of("ablate", "softmax_f32", "--arms", "full,full")["message"])
        self.assertIn("--sessions 2", self.error_of("ablate", "softmax_f32", "--arms", "full,no-memory")["remedy"])
        self.assertIn("--reference", self.error_of("ablate", "softmax_f32", "--arms", "full,no-references")["remedy"])
        self.error_of("ablate", "softmax_f32", "--arms", "fill")
        self.assertIn("no ablation `0007`", self.error_of("--state", self.state, "ablate", "--resume", "0007")["message"])
        self.run_expecting(HOLDS, "ablate", "--help", says=["no-profile", "--resume", "docs/ablation.md"])

    def test_another_task_ends_an_ablation(self):
        operators = self.dir / "softmax"
        shipped = pathlib.Path(BIN).parents[3] / "operators" / "softmax"
        shutil.copytree(shipped, operators)
        more = ["--operators", operators]
        self.ablate("softmax_f32", "--arms", "random", "--seeds", 1, *TINY[:6], "--evaluations", 2, *more)
        template = next((operators / "templates").glob("*.cpp"))
        template.write_text(template.read_text() + "\n// changed\n")
        error = self.error_of("--state", self.state, "ablate", "--resume", "0001", *more)
        self.assertIn("`softmax_f32` has changed since the ablation began", error["message"])


if __name__ == "__main__":
    unittest.main()
