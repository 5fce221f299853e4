# SPDX-License-Identifier: Apache-2.0
"""`optimize`: whole, interrupted, killed, resumed. How fast anything is, is not asked here: a busy
machine may leave timing undecided, and the outputs must be complete all the same."""
import csv
import html.parser
import random
import time

from harness import *

# Two cheap calls a trial and short windows: the whole run takes seconds on a busy machine, too.
TINY = ["--workload", "rows=17", "--no-peers", "--gate", "gate", "--least-window", 1]

# y = a x + b, so many times over; the memory clobber keeps every pass.
PASSES = """  for (int pass = 0; pass < {passes}; ++pass)
    for (int64_t i = 0; i < rows * KW_AXIS_n; ++i) {{
      y[i] = a * x[i] + b[i % KW_AXIS_n];
      if (i % KW_AXIS_n == 0)
        asm volatile("" ::: "memory");
    }}
  return 0;
"""
SCALE = "(const float* x, const float* b, float a, float* y, int64_t rows) {\n"


class Page(html.parser.HTMLParser):
    """Notes everything a self-contained page must not load."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.loaded = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "href") and not (value or "").startswith(("#", "data:"))]


class Optimizing(Case):
    def setUp(self):
        super().setUp()
        self.state = self.dir / "state"

    def runs(self):
        with_runs = sorted((self.state / "runs").glob("*")) if (self.state / "runs").is_dir() else []
        return [p.name for p in with_runs]

    def probes(self):
        return self.run_expecting(HOLDS, "--state", self.state, "--json", "archive", "list", "--limit", 0).json["probes"]

    def check_outputs(self, run):
        folder = self.state / "runs" / run
        page = Page((folder / "report.html").read_text())
        self.assertEqual(page.loaded, [])
        self.assertLessEqual({"html", "svg", "table"}, page.tags)
        self.assertIn("softmax", (folder / "report.md").read_text())
        with (folder / "probes.csv").open() as file:
            rows = list(csv.DictReader(file))
        archived = {p["id"] for p in self.probes() if p["run"] == run}
        self.assertTrue(rows)
        self.assertLessEqual({row["id"] for row in rows}, archived)
        with (folder / "workloads.csv").open() as file:
            self.assertIn("uuid", csv.DictReader(file).fieldnames)
        return folder, rows, archived

    def wait_for_probe(self, process, log, seconds=50):
        """Until the first probe is reported, or the run is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and process.poll() is None:
            if any(line.split()[:1] == ["1"] for line in pathlib.Path(log).read_text().splitlines()):
                return
            time.sleep(0.02)
        self.assertIsNone(process.poll(), pathlib.Path(log).read_text())

    def resume(self, run, before):
        """Goes on to the end without measuring again what is known."""
        outcome = kernwright("--state", self.state, "--json", "optimize", "--resume", run)
        self.assertIn(outcome.code, (HOLDS, FAILS), outcome.out + outcome.err)
        self.assertEqual(outcome.json["run"], run)
        self.assertFalse(outcome.json["interrupted"])
        _, rows, archived = self.check_outputs(run)
        self.assertLessEqual(before, archived)
        self.assertLessEqual(before, {row["id"] for row in rows})
        # The workloads of the run were kept: the resumed part judges no others.
        for probe in archived:
            verdict = self.run_expecting(HOLDS, "--state", self.state, "--json", "archive", "show", probe).json["verdict"]
            self.assertLessEqual(len(verdict["workloads"]), 1)
        self.run_expecting(HOLDS, "--state", self.state, "archive", "verify", says=["intact"])
        error = self.error_of("--state", self.state, "optimize", "--resume", run)
        self.assertIn("is finished", error["message"])

    def test_a_whole_run(self):
        outcome = kernwright("--state", self.state, "--json", "optimize", "softmax_f32", "--evaluations", 2, "--budget", "20s", *TINY)
        self.assertIn(outcome.code, (HOLDS, FAILS), outcome.out + outcome.err)
        result = outcome.json
        self.assertEqual(result["promoted"], outcome.code == HOLDS)
        folder, rows, archived = self.check_outputs(result["run"])
        self.assertEqual(folder.resolve(), pathlib.Path(result["folder"]).resolve())
        self.assertLessEqual(len(rows), 2)
        records = self.run_expecting(HOLDS, "--state", self.state, "--json", "archive", "list").json["records"]
        self.assertEqual(len(records), 1 if result["promoted"] else 0)
        self.run_expecting(HOLDS, "--state", self.state, "archive", "verify", says=["intact"])
        solution = folder / "solution.json"
        if not solution.exists():
            self.assertFalse(result["promoted"])
            return
        self.assertEqual(len(archived), len(rows) + 1)  # and the judgement of the winner as a whole
        self.run_expecting(HOLDS, "--state", self.state, "evaluate", solution, "--gate", "smoke", "--workload", "rows=17", says=["CORRECT"])

    def test_a_champion_may_lose_nowhere(self):
        """A candidate far ahead on the workload that stands for its regime, and far behind on another of it."""
        folder = self.dir / "scale"
        self.run_expecting(HOLDS, "init", "op", "scale", "--dir", folder)
        (folder / "baseline.cpp").write_text("#include <cstdint>\n" + 'extern "C" int baseline' + SCALE.replace("int64_t", "std::int64_t") +
                                             PASSES.format(passes=3).replace("int64_t", "std::int64_t") + "}\n")
        body = SCALE + PASSES.format(passes="(rows == 64 ? 1 : 15)") + "}\n"
        (folder / "uneven.cpp").write_text('#include "kernwright.h"\nnamespace KW_NAMESPACE {\nstatic int KW_ENTRY' + body + "}\n")
        (folder / "uneven.space.json").write_text(json.dumps({
            "schema": "kernwright.space/1", "name": "uneven", "family": "elementwise", "template": "uneven.cpp", "entry": "scale",
            "parameters": [{"name": "U", "values": [1, 2]}], "legal": ["U >= 1"], "seeds": [{"U": 1}]}))
        definition = json.loads((folder / "scale.definition.json").read_text())
        definition["x_kernwright"]["templates"] = ["uneven.space.json"]
        (folder / "scale.definition.json").write_text(json.dumps(definition))
        workloads = folder / "scale.workloads.jsonl"
        workloads.write_text(workloads.read_text().replace('{"rows": 1}', '{"rows": 48}'))
        self.run_expecting(FAILS, "--state", self.state, "--operators", folder, "optimize", "scale", "--evaluations", 1, "--budget", "20s",
                           "--without", "dispatch", "--no-peers", "--gate", "gate", "--least-window", 1)
        reasons = [p["reason"] for p in self.probes()]
        self.assertTrue(any("of the baseline on rows=48" in r for r in reasons), reasons)

    def test_replay_judges_what_the_probe_was_judged_on(self):
        # A search tries candidates on two workloads of a regime, not on all of the run.
        process, log = start("--state", self.state, "optimize", "softmax_f32", "--evaluations", 2, "--budget", "30s", "--no-peers",
                             "--gate", "gate", "--least-window", 1, "--workload", "rows=3", "--workload", "rows=61", "--workload", "rows=17",
                             "--workload", "rows=128")
        self.addCleanup(process.kill)
        self.wait_for_probe(process, log)
        stop(process, INT)
        probe = next(p["id"] for p in self.probes() if not p["hypothesis"].startswith("final"))
        replayed = self.run_expecting(HOLDS, "--state", self.state, "--json", "replay", probe, "--no-timing").json
        before, after = (replayed[k]["verdict"]["workloads"] for k in ("before", "after"))
        self.assertTrue(all(w["trials"] > 0 for w in before), before)
        self.assertLessEqual(len(before), 2)
        self.assertEqual([(w["uuid"], w["trials"]) for w in after], [(w["uuid"], w["trials"]) for w in before])

    def test_interrupt_and_resume(self):
        process, log = start("--state", self.state, "optimize", "softmax_f32", "--evaluations", 4, "--budget", "30s", *TINY)
        self.addCleanup(process.kill)
        self.wait_for_probe(process, log)
        children = descendants(process.pid)
        code = stop(process, INT)
        text = " ".join(pathlib.Path(log).read_text().split())
        self.assertEqual(code, INTERRUPTED, text)
        (run,) = self.runs()
        self.assertIn(f"interrupted: nothing is lost. Continue with: kernwright optimize --resume {run}", text)
        self.assertEqual([c for c in children if alive(c)], [])
        listed = self.run_expecting(HOLDS, "--state", self.state, "--json", "archive", "list", "--runs").json["runs"]
        self.assertEqual([(r["id"], r["definition"], r["state"]) for r in listed], [(run, "softmax_f32", "interrupted")])
        _, rows, _ = self.check_outputs(run)
        self.resume(run, {row["id"] for row in rows})

    def test_kill_and_resume(self):
        process, log = start("--state", self.state, "optimize", "softmax_f32", "--evaluations", 4, "--budget", "30s", *TINY)
        self.addCleanup(process.kill)
        self.wait_for_probe(process, log)
        children = descendants(process.pid)
        stop(process, KILL)
        end = time.monotonic() + 5
        while any(alive(c) for c in children) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual([c for c in children if alive(c)], [], "processes outlive a killed judge")
        self.run_expecting(HOLDS, "--state", self.state, "archive", "verify", says=["intact"])
        reported = [p["id"] for p in self.probes()]
        self.assertTrue(reported, "a reported probe is lost")
        before = set(reported[:1])  # a later one may have been archived, but not yet journalled: judged again
        (run,) = {p["run"] for p in self.probes()}
        self.resume(run, before)

    def decisions(self, run):
        return (self.state / "runs" / run / "decisions.jsonl").read_bytes()

    def whole(self, *more):
        outcome = kernwright("--state", self.state, "--json", "optimize", "softmax_f32", "--evaluations", 9, "--budget", "40s",
                             "--seed", 5, *TINY, "--workload", "rows=128", *more)
        self.assertIn(outcome.code, (HOLDS, FAILS), outcome.out + outcome.err)
        return outcome.json["run"]

    def test_the_same_evaluations_give_the_same_decisions(self):
        first = self.whole()
        lines = [json.loads(line) for line in self.decisions(first).splitlines()]
        kinds = {line["decision"] for line in lines}
        self.assertLessEqual({"round"}, kinds)
        self.assertIn(lines[-1]["decision"], ("promote", "archive", "reject", "none"))
        evaluated = [line for line in lines if line.get("hypothesis") and line["decision"] != "known"]
        self.assertEqual(len({line["probe"] for line in evaluated}), len(evaluated))
        journal = self.state / "runs" / first / "journal.jsonl"
        # A direction that has nothing left to try ends no search: the evaluations or the time are used up.
        effects = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
        spent = sum(e["result"]["seconds"] for e in effects if e["effect"] in ("evaluate", "profile"))
        self.assertTrue(len(evaluated) >= 9 or spent >= 40, (len(evaluated), spent))
        again = self.whole("--recorded", journal)
        self.assertNotEqual(again, first)
        self.assertEqual(self.decisions(again), self.decisions(first))
        self.assertEqual((self.state / "runs" / again / "journal.jsonl").read_bytes(), journal.read_bytes())

        # Killed anywhere and resumed, it comes to the same. Torn lines included: the kill may fall into a write.
        chance = random.Random(7)
        for _ in range(int(os.environ.get("KW_KILLS", "4"))):
            before = set(self.runs())
            process, log = start("--state", self.state, "optimize", "softmax_f32", "--evaluations", 9, "--budget", "40s", "--seed", 5,
                                 *TINY, "--workload", "rows=128", "--recorded", journal)
            self.addCleanup(process.kill)
            end = time.monotonic() + 30
            while set(self.runs()) == before and process.poll() is None and time.monotonic() < end:
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 0.15))
            stop(process, KILL)
            (run,) = set(self.runs()) - before
            outcome = kernwright("--state", self.state, "optimize", "--resume", run, "--recorded", journal)
            if "is finished" not in outcome.text:
                self.assertIn(outcome.code, (HOLDS, FAILS), outcome.text)
            self.assertEqual(self.decisions(run), self.decisions(first))
        (self.state / "runs" / again / "journal.jsonl").write_bytes(journal.read_bytes().replace(b"softmax-rows", b"softmax-sows"))
        error = self.error_of("--state", self.state, "optimize", "softmax_f32", "--evaluations", 9, "--budget", "40s", "--seed", 5, *TINY,
                              "--workload", "rows=128", "--recorded", self.state / "runs" / again / "journal.jsonl")
        self.assertIn("would go on otherwise", error["message"])

    def test_a_rejected_kernel_is_not_tried_again(self):
        first = self.whole()
        tried = {json.loads(line)["hypothesis"]: json.loads(line)["decision"] for line in self.decisions(first).splitlines()
                 if b"hypothesis" in line}
        rejected = next(p for p in self.probes() if p["decision"] in ("reject", "archive") and "final" not in p["hypothesis"])
        told = self.run_expecting(HOLDS, "--state", self.state, "archive", "why", rejected["id"]).text
        self.assertIn(" ".join(rejected["reason"].split()), told)
        self.assertIn("proposed by tuner: " + rejected["hypothesis"], told)
        asked = self.run_expecting(HOLDS, "--state", self.state, "--json", "archive", "why", rejected["id"][:16]).json
        self.assertEqual((asked["probe"], asked["decision"]), (rejected["id"], rejected["decision"]))
        self.assertIn("no probe", self.error_of("--state", self.state, "archive", "why", "ffffffff")["message"].lower())
        second = [json.loads(line) for line in self.decisions(self.whole()).splitlines()]
        known = {line["hypothesis"] for line in second if line["decision"] == "known"}
        self.assertTrue(known, tried)
        for line in second:
            if line.get("hypothesis") and line["decision"] != "known":
                self.assertIn(tried.get(line["hypothesis"], "keep"), ("keep",), line)


if __name__ == "__main__":
    unittest.main()
