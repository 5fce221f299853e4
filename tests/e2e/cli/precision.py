# SPDX-License-Identifier: Apache-2.0
"""A kernel inside its tolerance whose arithmetic is plainly coarser than the baseline's is told apart."""
from harness import *

NAME = "weighted"
PRODUCT = "y[r * 64 + i] = x[r * 64 + i] * b[i];"
# Rounds what it stores to 20 significant bits: an error of 1e-6 where 1e-5 is allowed.
ROUNDED = ("float t = x[r * 64 + i] * b[i]; std::uint32_t bits; __builtin_memcpy(&bits, &t, 4); bits = (bits + 8) & ~15u;"
           "__builtin_memcpy(&t, &bits, 4); y[r * 64 + i] = t;")


def kernel(body, entry="kernel"):
    return ("#include <cstdint>\n"
            f'extern "C" int {entry}(const float* x, const float* b, float* y, std::int64_t rows) {{\n'
            f"  for (std::int64_t r = 0; r < rows; ++r)\n    for (int i = 0; i < 64; ++i) {{ {body} }}\n  return 0;\n}}\n")


def operator(baseline=PRODUCT):
    own = '"baseline": {"name": "plain", "source": "baseline.cpp", "entry": "baseline"},' if baseline else ""
    definition = f"""{{"name": "{NAME}", "op_type": "{NAME}",
 "axes": {{"rows": {{"type": "var"}}, "n": {{"type": "const", "value": 64}}}},
 "inputs": {{"x": {{"shape": ["rows", "n"], "dtype": "float32"}}, "b": {{"shape": ["n"], "dtype": "float32"}}}},
 "outputs": {{"y": {{"shape": ["rows", "n"], "dtype": "float32"}}}},
 "reference": "def run(x, b):\\n    return x * b\\n",
 "x_kernwright": {{"version": 1, "flops": "rows * n", {own}
  "oracle": {{"source": "oracle.cpp", "entry": "oracle"}}, "tolerance": {{"y": {{"rtol": 1e-5}}}}}}}}"""
    workload = f'{{"definition": "{NAME}", "workload": {{"uuid": "{NAME}-16", "axes": {{"rows": 16}}, "inputs": {{}}}}, "solution": null, "evaluation": null}}\n'
    oracle = ("#include <cmath>\n#include <cstdint>\n"
              'extern "C" int oracle(const float* x, const float* b, double* y, double* s, std::int64_t rows) {\n'
              "  for (std::int64_t i = 0; i < rows * 64; ++i) y[i] = double(x[i]) * b[i % 64], s[i] = std::fabs(y[i]);\n  return 0;\n}\n")
    files = {f"{NAME}.definition.json": definition, f"{NAME}.workloads.jsonl": workload, "oracle.cpp": oracle}
    if baseline:
        files["baseline.cpp"] = kernel(baseline, "baseline")
    return files


class Precision(Case):
    def judged(self, body, gate="accept", **more):
        for name, text in operator(**more).items():
            self.write(f"ops/{name}", text)
        source = self.write("kernel.cpp", kernel(body))
        args = ("--operators", self.dir / "ops", "evaluate", source, "-d", NAME, "--gate", gate, "--no-archive")
        return self.run_expecting(HOLDS, *args), self.run_expecting(HOLDS, "--json", *args).json["evaluations"][0]["probe"]["verdict"]

    def test_equal_arithmetic_is_as_the_baseline(self):
        outcome, verdict = self.judged("volatile float t = b[i] * x[r * 64 + i]; y[r * 64 + i] = t;")
        self.expect(outcome, HOLDS, "CORRECT", "precision: error 1x of plain's (`y`, inputs: ", ", exact where that one is")
        self.assertNotIn("REDUCED_PRECISION", outcome.text)
        exercise = verdict["exercise"]
        # One shape is listed; every shape's first call is made once more with the other placement.
        self.assertEqual(exercise["shapes"], 1 + exercise["hidden"])
        self.assertEqual(exercise["end_aligned"] + exercise["start_aligned"], verdict["trials"] + exercise["shapes"])
        self.assertGreater(min(exercise["end_aligned"], exercise["start_aligned"]), 100)
        self.assertGreater(exercise["ragged"], 0)
        precision = verdict["precision"]
        self.assertEqual((precision["word"], precision["baseline"], precision["output"]), ("AS_BASELINE", "plain", "y"))
        self.assertEqual(precision["trials"], 4)
        self.assertEqual(precision["exact_probes"], 2)

    def test_coarser_arithmetic_within_the_tolerance_is_flagged(self):
        outcome, verdict = self.judged(ROUNDED)
        self.expect(outcome, HOLDS, "CORRECT", "REDUCED_PRECISION: error ", "of plain's on the same inputs (`y`, inputs: ",
                    "within the tolerance, so no failure", "· REDUCED_PRECISION")
        precision = verdict["precision"]
        self.assertEqual(precision["word"], "REDUCED_PRECISION")
        self.assertGreater(precision["ratio"], 8)
        self.assertGreater(precision["excess"], 1)
        self.assertTrue(verdict["accepted"])

    def test_lower_gates_do_not_ask(self):
        outcome, verdict = self.judged(ROUNDED, gate="gate")
        self.assertNotIn("precision", verdict)
        self.assertNotIn("recision", outcome.text)

    def test_a_definition_without_a_baseline_says_so(self):
        outcome, verdict = self.judged(ROUNDED, baseline="")
        self.expect(outcome, HOLDS, "precision: not compared with the baseline: the Definition declares none")
        self.assertEqual(verdict["precision"]["word"], "")

    def test_a_coarse_baseline_sets_the_bar(self):
        outcome, verdict = self.judged(ROUNDED, baseline=ROUNDED)
        self.assertEqual(verdict["precision"]["word"], "AS_BASELINE")
        self.expect(outcome, HOLDS, "precision: error 1x of plain's")


if __name__ == "__main__":
    unittest.main()
