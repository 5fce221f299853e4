# SPDX-License-Identifier: Apache-2.0
"""Campaigns: several definitions one after the other, kept as they are done; objectives."""
from harness import *

TINY = ["--workload", "rows=17", "--no-peers", "--least-window", 1, "--evaluations", 2, "--budget", "20s"]


class Campaigning(Case):
    def setUp(self):
        super().setUp()
        self.state = self.dir / "state"

    def campaign(self, **changes):
        file = {"schema": "kernwright.campaign/1", "name": "two", "objective": "mean-latency", "gate": "gate", "replay_trials": 3,
                "tracks": {"rows": ["softmax_f32"], "none": ["there_is_no_such_definition"]}}
        file.update(changes)
        return self.write("two.campaign.json", json.dumps(file))

    def test_what_is_done_is_kept(self):
        path = self.campaign()
        outcome = kernwright("--state", self.state, "--json", "optimize", "--campaign", path, *TINY)
        self.assertEqual(outcome.code, FAILS, outcome.out + outcome.err)  # one is missing
        first = outcome.json
        done, missing = first["rows"]
        self.assertIn(done["state"], ("promoted", "baseline stands"))
        self.assertEqual((missing["state"], missing["score"]), ("missing", 0))
        self.assertAlmostEqual(first["score"], done["score"] / 2)
        if done["state"] == "promoted":
            self.assertGreaterEqual(done["replayed"], 3)
            self.assertEqual(done["replay_failures"], 0)
            verdict = self.run_expecting(HOLDS, "--state", self.state, "--json", "archive", "show", done["record"]).json["verdict"]
            self.assertEqual(verdict["times"]["objective"], "mean-latency")
        page = (pathlib.Path(first["folder"]) / "results.md").read_text()
        self.assertIn("no official score", page)
        runs = lambda: self.run_expecting(HOLDS, "--state", self.state, "--json", "archive", "list", "--runs").json["runs"]
        self.assertEqual(len(runs()), 1)
        again = kernwright("--state", self.state, "optimize", "--campaign", path, *TINY)
        self.expect(again, FAILS, "there_is_no_such_definition", "missing", "no official score")
        self.assertEqual(len(runs()), 1, "nothing is done twice")
        (pathlib.Path(first["folder"]) / "progress.json").write_text("{")
        self.expect(kernwright("--state", self.state, "optimize", "--campaign", path, *TINY), BAD_INPUT, "progress.json")

    def test_a_campaign_file_that_is_wrong(self):
        for changes, words in (({"schema": "x/1"}, "kernwright.campaign/1"), ({"objective": "speed"}, 'no objective "speed"'),
                               ({"gate": "smoke"}, 'no gate "smoke"'), ({"tracks": {}}, "names no definition"), ({"name": "../x"}, "is no name"),
                               ({"tracks": {"a": ["d"], "b": ["d"]}}, "named twice")):
            error = self.error_of("--state", self.state, "optimize", "--campaign", self.campaign(**changes), *TINY)
            self.assertIn(words, error["message"] + error["remedy"], changes)

    def test_the_contest_is_shipped(self):
        shipped = json.loads((pathlib.Path(__file__).resolve().parents[3] / "operators" / "contest.campaign.json").read_text())
        self.assertEqual(sum(map(len, shipped["tracks"].values())), 5)
        self.expect(kernwright("--state", self.state, "optimize", "--all-contest", "--campaign", self.campaign()), BAD_INPUT, "excludes")


if __name__ == "__main__":
    unittest.main()
