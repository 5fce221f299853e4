# SPDX-License-Identifier: Apache-2.0
"""`optimize` with proposers other than the tuner: folders, programs, earlier runs, reference kernels.
How fast anything is, is not asked here."""
import sys
import time

from harness import *

TINY = ["--workload", "rows=17", "--no-peers", "--gate", "gate", "--least-window", 1]

HEAD = '#include "kernwright.h"\n#include <math.h>\n// SPDX-License-Identifier: BSD-3-Clause\nextern "C" int softmax(const float* x, float* y, int64_t rows, int64_t n) {\n'
# TIMES passes over each row: more are slower.
RIGHT = HEAD + """  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0];
    for (int64_t i = 1; i < n; ++i) top = x[i] > top ? x[i] : top;
    for (int pass = 0; pass < TIMES; ++pass) {
      float all = 0;
      for (int64_t i = 0; i < n; ++i) all += y[i] = __builtin_expf(x[i] - top);
      const float scale = 1 / all;
      for (int64_t i = 0; i < n; ++i) y[i] *= scale;
      asm volatile("" ::: "memory");
    }
  }
  return 0;
}
"""


def right(times=1):
    return RIGHT.replace("TIMES", str(times))


WRONG = HEAD + "  for (int64_t i = 0; i < rows * n; ++i) y[i] = x[i];\n  return 0;\n}\n"

PROGRAM = """import json, os, pathlib, sys
request = json.load(open(sys.argv[1]))
out = pathlib.Path(sys.argv[2])
assert os.environ["KERNWRIGHT_REQUEST"] == sys.argv[1] and os.environ["KERNWRIGHT_OUT"] == sys.argv[2]
assert request["schema"] == "kernwright.proposal_request/1", request
assert request["definition"]["name"] == "softmax_f32"
assert request["champion"]["solution"]["sources"], request["champion"]
number = len(request["attempts"])
if number >= {most}:
    sys.exit(0)
(out / f"try{{number}}.cpp").write_text({source!r}.replace("TIMES", str(number + 1)))
(out.parent / "proposal.json").write_text(json.dumps({{"hypotheses": {{f"try{{number}}.cpp": f"idea {{number}}"}}, "tokens": 100, "cost_usd": 0.25}}))
"""


class Proposing(Case):
    def setUp(self):
        super().setUp()
        self.state = self.dir / "state"

    def optimize(self, *more, evaluations=3, budget="30s", codes=(HOLDS, FAILS)):
        outcome = kernwright("--state", self.state, "--json", "optimize", "softmax_f32", "--evaluations", evaluations, "--budget", budget,
                             *TINY, *more)
        self.assertIn(outcome.code, codes, outcome.out + outcome.err)
        return outcome.json

    def decisions(self, result):
        text = (pathlib.Path(result["folder"]) / "decisions.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def journal(self, result):
        return pathlib.Path(result["folder"]) / "journal.jsonl"

    def ideas(self):
        folder = self.dir / "ideas"
        folder.mkdir()
        (folder / "good.cpp").write_text(right())
        (folder / "wrong.cpp").write_text(WRONG)
        (folder / "notes.md").write_text("not a kernel")
        return folder

    def program(self, most=2):
        return self.write("propose.py", PROGRAM.format(most=most, source=RIGHT))

    def test_a_folder_alone(self):
        folder = self.ideas()
        (folder / "other").mkdir()
        (folder / "other" / "config.toml").write_text('[solution]\nname = "x"\ndefinition = "layernorm_f32_h4096"\n[build]\nentry_point = "k.cpp::f"\n')
        (folder / "other" / "k.cpp").write_text("int f();\n")
        result = self.optimize("--proposer", f"directory:{folder}", evaluations=2)
        lines = self.decisions(result)
        tried = {line["hypothesis"]: line for line in lines if "hypothesis" in line and line["decision"] != "known"}
        self.assertLessEqual({"good.cpp", "wrong.cpp"}, set(tried))
        self.assertEqual(tried["wrong.cpp"]["decision"], "reject")
        self.assertEqual({tried[n]["proposer"] for n in ("good.cpp", "wrong.cpp")}, {"directory"})
        unusable = [line["reason"] for line in lines if line["decision"] == "unusable proposal"]
        self.assertTrue(any("layernorm_f32_h4096" in reason for reason in unusable), unusable)
        told = json.loads((folder / "results" / "wrong.cpp.json").read_text())
        self.assertEqual((told["decision"], told["finding"]), ("reject", "REJECT_WRONG"))
        probe = self.run_expecting(HOLDS, "--state", self.state, "--json", "archive", "show", told["probe"]).json
        self.assertEqual((probe["proposer"], probe["solution"]["sources"][0]["content"]), ("directory", WRONG))
        self.assertIn(json.loads((folder / "results" / "good.cpp.json").read_text())["finding"], ("NONE", "TIMING"))

        # A second run meets the same files: what was wrong is answered without running it.
        again = self.decisions(self.optimize("--proposer", f"directory:{folder}", evaluations=1))
        known = {line["hypothesis"] for line in again if line["decision"] == "known"}
        self.assertIn("wrong.cpp", known)

    def test_files_that_come_while_it_waits(self):
        folder = self.dir / "ideas"
        folder.mkdir()
        process, log = start("--state", self.state, "optimize", "softmax_f32", "--evaluations", 1, "--budget", "40s", *TINY,
                             "--proposer", f"directory:{folder}")
        self.addCleanup(process.kill)
        end = time.monotonic() + 30
        while "waiting for solutions" not in pathlib.Path(log).read_text() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.05)
        self.assertIn("waiting for solutions in", pathlib.Path(log).read_text())
        (folder / "late.cpp.part").write_text(WRONG)
        (folder / "late.cpp.part").rename(folder / "late.cpp")
        process.wait(50)
        self.assertIn("late.cpp", pathlib.Path(log).read_text())
        self.assertEqual(json.loads((folder / "results" / "late.cpp.json").read_text())["finding"], "REJECT_WRONG")

    def test_a_program_in_turn_with_the_tuner(self):
        command = f"/usr/bin/python3 {self.program()} {{request}} {{out}}"
        result = self.optimize("--proposer", f"command:{command}", "--proposer", "tuner", evaluations=6)
        lines = self.decisions(result)
        by = {line["proposer"] for line in lines if line.get("proposer") and line["decision"] == "round"}
        self.assertEqual(by, {"command", "tuner"})
        self.assertIn("idea 0", {line.get("hypothesis") for line in lines})
        handed = [line["handoff"] for line in lines if line.get("handoff")]
        self.assertTrue(handed and "command had" in handed[0], handed)
        self.assertGreaterEqual(result["usage"]["tokens"], 200)
        self.assertGreaterEqual(result["usage"]["cost_usd"], 0.5)
        # The same evaluations, nobody asked: the same decisions, although the program would now fail.
        (self.dir / "propose.py").write_text("import sys; sys.exit(3)")
        again = self.optimize("--proposer", f"command:{command}", "--proposer", "tuner", "--recorded", self.journal(result), evaluations=6)
        self.assertEqual(self.decisions(again), lines)
        self.assertEqual(self.journal(again).read_bytes(), self.journal(result).read_bytes())

    def test_a_program_that_fails_costs_the_run_nothing(self):
        program = self.write("broken.py", "import sys; print('no model'); sys.exit(7)")
        result = self.optimize("--proposer", f"command:/usr/bin/python3 {program}", "--proposer", "tuner", evaluations=2)
        lines = self.decisions(result)
        (failed,) = [line for line in lines if line["decision"] == "proposer failed"]
        self.assertIn("exit code 7", failed["reason"])
        self.assertEqual({line["proposer"] for line in lines if "hypothesis" in line}, {"tuner"})
        self.assertIn("no model", (pathlib.Path(result["folder"]) / "proposals" / "call-0001" / "stdout.txt").read_text())

    def test_an_earlier_run_once_more(self):
        folder = self.ideas()
        first = self.optimize("--proposer", f"directory:{folder}", evaluations=2)
        # Another state would not know the run; without memory nothing is answered from the first.
        second = self.optimize("--proposer", f"replay:{first['run']}", "--without", "memory", "--without", "references", evaluations=2)
        tried = [line["hypothesis"] for line in self.decisions(second) if line.get("proposer") == "replay" and "hypothesis" in line]
        self.assertEqual(tried, ["good.cpp", "wrong.cpp"])

    def test_reference_kernels_come_first(self):
        kernel = self.write("reference.cpp", right())
        result = self.optimize("--reference", f"{kernel}@0123abc", evaluations=2)
        lines = self.decisions(result)
        note = next(line for line in lines if line["decision"] == "reconnaissance")
        self.assertEqual([r["name"] for r in note["references"]], ["reference"])
        first_round = next(i for i, line in enumerate(lines) if line["decision"] == "round" and line["round"] == 1)
        self.assertLess(lines.index(note), first_round)
        without = self.decisions(self.optimize("--reference", kernel, "--without", "references", evaluations=1))
        note = next(line for line in without if line["decision"] == "reconnaissance")
        self.assertEqual((note["references"], note["references_wanted"]), ([], False))

    def test_a_foreign_kernel_wins_every_regime(self):
        """Two regimes, no templates: the folder's kernel wins both."""
        folder = self.dir / "scale"
        self.run_expecting(HOLDS, "init", "op", "scale", "--dir", folder)
        body = """(const float* x, const float* b, float a, float* y, int64_t rows) {{
  for (int pass = 0; pass < {passes}; ++pass)
    for (int64_t i = 0; i < rows * {n}; ++i) {{
      y[i] = a * x[i] + b[i % {n}];
      if (i % {n} == 0)
        asm volatile("" ::: "memory");
    }}
  return 0;
}}
"""
        definition = json.loads((folder / "scale.definition.json").read_text())
        n = definition["axes"]["n"]["value"]
        (folder / "baseline.cpp").write_text('#include <stdint.h>\nextern "C" int baseline' + body.format(passes=20, n=n))
        definition["x_kernwright"]["templates"] = []
        (folder / "scale.definition.json").write_text(json.dumps(definition))
        rows = [4, 4096]
        (folder / "scale.workloads.jsonl").write_text("".join(
            json.dumps({"definition": "scale", "solution": None, "evaluation": None, "workload": {
                "uuid": f"w{r}", "axes": {"rows": r},
                "inputs": {k: ({"type": "scalar", "value": 0.5} if v["shape"] is None else {"type": "random"})
                           for k, v in definition["inputs"].items()}}}) + "\n" for r in rows))
        ideas = self.dir / "ideas"
        ideas.mkdir()
        # Its name is the baseline's: the dispatcher renames it.
        (ideas / "plain.cpp").write_text('#include <stdint.h>\nstatic int helper() { return 1; }\nextern "C" int baseline' +
                                         body.format(passes="helper()", n=n))
        outcome = kernwright("--state", self.state, "--json", "--operators", folder, "optimize", "scale", "--evaluations", 4, "--budget", "20s",
                             "--no-peers", "--gate", "gate", "--least-window", 1, "--proposer", f"directory:{ideas}")
        self.assertIn(outcome.code, (HOLDS, FAILS), outcome.out + outcome.err)
        lines = self.decisions(outcome.json)
        kept = {line["regime"] for line in lines if line["decision"] == "keep"}
        if len(kept) < 2:  # a busy machine may leave a gate undecided
            self.skipTest(f"only {kept} decided")
        champion = outcome.json["champion"]
        self.assertEqual(champion["proposer"], "directory")
        # Both regimes chose the same kernel: it is no branch of itself.
        self.assertEqual([source["path"] for source in champion["solution"]["sources"]], ["plain.cpp"])
        self.assertEqual(champion["verdict"]["build"]["outcome"], "pass")
        self.assertEqual(champion["verdict"]["correctness"]["outcome"], "pass")

    def test_people_steer_and_are_asked(self):
        process, log = start("--state", self.state, "--json", "optimize", "softmax_f32", "--evaluations", 9, "--budget", "40s", "--seed", 5, *TINY,
                             "--approval")
        self.addCleanup(process.kill)
        end = time.monotonic() + 30
        while not (self.state / "runs" / "0001" / "journal.jsonl").exists() and time.monotonic() < end:
            time.sleep(0.02)

        def steer(*words):
            return kernwright("--state", self.state, "steer", "0001", *words)
        self.expect(steer("--prefer", "prefetch", "--by", "ann", "--minutes", 4, "--note", "gathers stall"), HOLDS, "noted for run 0001: prefer prefetch")
        self.expect(steer("--prefer", "magic"), BAD_INPUT, "There is no direction `magic`", "wider-vectors")
        self.expect(steer("--approve", "--decline"), BAD_INPUT, "one thing at a time")
        self.expect(steer(), BAD_INPUT, "nothing to say")
        self.expect(kernwright("--state", self.state, "steer", "0002", "--approve"), BAD_INPUT, "0002")
        journal = self.state / "runs" / "0001" / "journal.jsonl"
        end = time.monotonic() + 50
        while '"evaluate"' not in journal.read_text() and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(1)
        self.assertIsNone(process.poll(), "it waits for an approval")
        self.expect(steer("--approve", "--by", "ann", "--minutes", 1), HOLDS)
        process.wait(60)
        lines = [json.loads(line) for line in (journal.parent / "decisions.jsonl").read_text().splitlines()]
        said = [line["said"] for line in lines if line["decision"] == "steering"]
        self.assertEqual([(s["kind"], s["by"], s["minutes"]) for s in said], [("prefer", "ann", 4), ("approve", "ann", 1)])
        self.expect(steer("--approve"), BAD_INPUT, "run 0001 is finished")
        result = json.loads(pathlib.Path(log).read_text()[pathlib.Path(log).read_text().index("{"):])
        matrix = result["champion"].get("contributions", [])
        if result["champion"]["proposer"] == "tuner":  # else the baseline stands
            self.assertEqual([(c["role"], c["who"], c["minutes"]) for c in matrix], [("tuner", "tuner", 0), ("human", "ann", 5)])
        self.assertIn("Cost", (journal.parent / "report.html").read_text())
        again = self.optimize("--seed", 5, "--approval", "--recorded", journal, evaluations=9, budget="40s")
        self.assertEqual(self.decisions(again), lines)

    def test_a_declined_winner_is_not_judged(self):
        process, _ = start("--state", self.state, "optimize", "softmax_f32", "--evaluations", 2, "--budget", "20s", *TINY, "--approval")
        self.addCleanup(process.kill)
        run = self.state / "runs" / "0001"
        end = time.monotonic() + 30
        while not (run / "journal.jsonl").exists() and time.monotonic() < end:
            time.sleep(0.02)
        self.run_expecting(HOLDS, "--state", self.state, "--json", "steer", "0001", "--decline")
        self.assertEqual(process.wait(50), FAILS)
        last = json.loads((run / "decisions.jsonl").read_text().splitlines()[-1])
        self.assertEqual((last["decision"], last["reason"]), ("none", "declined by a person"))

    def test_budgets_of_paid_proposers(self):
        command = f"/usr/bin/python3 {self.program(most=9)} {{request}} {{out}}"
        result = self.optimize("--proposer", f"command:{command}", "--proposer", "tuner", "--token-budget", 150, evaluations=5)
        lines = self.decisions(result)
        (used,) = [line for line in lines if line["decision"] == "budget used up"]
        self.assertEqual(used["tokens"], 200)
        self.assertEqual(result["usage"]["tokens"], 200)
        self.assertEqual(len([line for line in lines if line.get("hypothesis", "").startswith("idea")]), 2)
        short = self.optimize("--cpu-budget", "1s", evaluations=500, budget="50s")
        self.assertLess(short["search_seconds"], 40)

    def test_what_cannot_work_is_said_at_once(self):
        for proposer, words in (("psychic", "There is no proposer"), ("tuner:x", "takes nothing"), ("directory:", "after the colon")):
            outcome = kernwright("--state", self.state, "optimize", "softmax_f32", "--proposer", proposer, *TINY)
            self.expect(outcome, BAD_INPUT, words)
        error = self.error_of("--state", self.state, "optimize", "softmax_f32", "--proposer", f"directory:{self.dir}/none", *TINY)
        self.assertIn("There is no folder", error["message"])
        error = self.error_of("--state", self.state, "optimize", "softmax_f32", "--proposer", "command:no-such-program-anywhere", *TINY)
        self.assertIn("was not found", error["message"])
        error = self.error_of("--state", self.state, "optimize", "softmax_f32", "--proposer", "replay:9999", *TINY)
        self.assertIn("9999", error["message"])


if __name__ == "__main__":
    unittest.main()
