# SPDX-License-Identifier: Apache-2.0
"""Sampling: every draw against the kept part, all draws of a gate against their probabilities."""
import pathlib

from harness import *

SAMPLE = ["-d", "sample_top_p90_f32", "--workload", "rows=256"]
OPERATOR = pathlib.Path(__file__).resolve().parents[3] / "operators" / "sampling"


def baseline(**changes):
    text = (OPERATOR / "baseline.cpp").read_text()
    for what, by in changes.get("replace", []):
        assert what in text, what
        text = text.replace(what, by)
    return text


class Drawing(Case):
    def test_a_right_sampler_and_what_is_said_of_it(self):
        outcome, probe = self.evaluate(self.write("k.cpp", baseline()), *SAMPLE, "--gate", "gate", code=HOLDS)
        self.expect(outcome, HOLDS, "CORRECT", "draws follow the probabilities: least p ")
        draws = probe["verdict"]["draws"]
        self.assertEqual([t["name"] for t in draws["tests"]], ["seed", "calls", "rows", "probability", "place"])
        self.assertTrue(all(t["asked"] and t["p"] >= draws["alarm"] for t in draws["tests"]), draws)
        self.assertGreater(draws["draws"], 5_000)

    def test_faults_are_named(self):
        for name, change, says in [
            ("range", ("token[r] = static_cast<std::int32_t>(i);", "token[r] = static_cast<std::int32_t>(n);"),
             ["draws of `token` impossible on rows=256 n=256", "place 256 is outside [0, 256)", "drew place 256; the most probable is "]),
            ("all", ("0.9 * total", "1.0 * total"), ["of the mass already, and top-p is 0.9"]),
            ("row", ("uniform(*seed, r)", "uniform(*seed, r / 2)"), ["(rows test, p ", "pairs of neighbouring rows"]),
            ("unwritten", ("token[r] = ", "std::int32_t gone = "), ["is outside [0, 256)"]),
        ]:
            with self.subTest(name):
                source = self.write(f"{name}.cpp", baseline(replace=[change]).replace("std::int32_t gone = 0;", "(void)token;"))
                outcome, probe = self.evaluate(source, *SAMPLE, "--gate", "gate", code=FAILS)
                self.expect(outcome, FAILS, "REJECT_WRONG", *says)

    def test_a_seed_that_is_not_read(self):
        """Two tests see it, and which sees it more clearly is chance."""
        source = self.write("seed.cpp", baseline(replace=[("uniform(*seed, r)", "uniform(7, r)")]))
        outcome, probe = self.evaluate(source, *SAMPLE, "--gate", "gate", code=FAILS)
        self.expect(outcome, FAILS, "REJECT_WRONG", "draws do not follow the probabilities")
        draws = probe["verdict"]["draws"]
        for test in draws["tests"][:2]:
            self.assertLess(test["p"], draws["alarm"], test)

    def test_two_answers_to_one_seed(self):
        source = baseline(replace=[("uniform(*seed, r)", "uniform(*seed + (reinterpret_cast<std::uintptr_t>(token) & 4095), r)")])
        self.run_expecting(FAILS, "evaluate", self.write("address.cpp", source), *SAMPLE, "--gate", "accept", "--no-archive",
                           says=["REJECT_NONDET"])


if __name__ == "__main__":
    unittest.main()
