# SPDX-License-Identifier: Apache-2.0
"""Outputs of which the oracle computes some rows only, and inputs that it gives near-ties."""
from harness import *

ROWS = 5000
DEFINITION = """{"name": "pick", "op_type": "pick",
 "axes": {"rows": {"type": "var"}, "n": {"type": "const", "value": 16}},
 "inputs": {"x": {"shape": ["rows", "n"], "dtype": "float32"}}, "outputs": {"y": {"shape": ["rows", "n"], "dtype": "float32"}},
 "reference": "def run(x):\\n    raise NotImplementedError\\n",
 "x_kernwright": {"version": 1, "flops": "rows * n * 1000000", "bytes_read": "0", "bytes_written": "0",
  "oracle": {"source": "oracle.cpp", "entry": "oracle", "block_entry": "block"},
  "inputs": {"x": {"kind": "normal", "classes": ["normal", "near_ties"], "near_ties_entry": "close"}},
  "tolerance": {"y": {"eta": 4}}}}"""
WORKLOAD = '{{"definition": "pick", "workload": {{"uuid": "pick-{0}", "axes": {{"rows": {0}}}, "inputs": {{}}}}, "solution": null, "evaluation": null}}\n'
# Twice the greater of the first two elements, and the rest as it is. Near-ties: the second is the first but for one unit.
ORACLE = """#include <cmath>
#include <cstdint>
#include <cstring>
static_assert(KW_ETA_y == 4);
static void row(const float* x, const int64_t* cols, int64_t ncols, double* y, double* s) {
  for (int64_t c = 0; c < ncols; ++c) {
    const int64_t j = cols ? cols[c] : c;
    y[c] = j > 0 ? x[j] : 2.0 * (x[0] > x[1] ? x[0] : x[1]);
    s[c] = std::fabs(y[c]);
  }
}
extern "C" int oracle(const float* x, double* y, double* s, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r)
    row(x + r * 16, nullptr, 16, y + r * 16, s + r * 16);
  return 0;
}
extern "C" int block(const float* x, const int64_t* rows, int64_t nrows, const int64_t* cols, int64_t ncols, double* y, double* s, int64_t) {
  for (int64_t r = 0; r < nrows; ++r)
    row(x + rows[r] * 16, cols, ncols, y + r * ncols, s + r * ncols);
  return 0;
}
extern "C" int close(const float* x, int64_t secret, float* near, int64_t rows) {
  std::memcpy(near, x, 64 * rows);
  for (int64_t r = 0; r < rows; ++r)
    near[16 * r + 1] = near[16 * r] * ((secret + r) % 2 ? 1.001f : 0.999f);
  return 0;
}
"""


def kernel(greater="x[0] > x[1] ? x[0] : x[1]", wrong="false"):
    return (f'#include <cstdint>\nextern "C" int kernel(const float* x, float* y, std::int64_t rows) {{\n'
            f"  for (std::int64_t r = 0; r < rows; ++r, x += 16, y += 16) {{\n"
            f"    for (int i = 1; i < 16; ++i) y[i] = x[i];\n"
            f"    y[0] = ({wrong}) ? x[2] : 2 * ({greater});\n  }}\n  return 0;\n}}\n")


class SampledRows(Case):
    def judge(self, rows, code, *more, **how):
        self.write("pick/pick.definition.json", DEFINITION)
        self.write("pick/pick.workloads.jsonl", "".join(map(WORKLOAD.format, rows if isinstance(rows, range) else [rows])))
        self.write("pick/oracle.cpp", ORACLE)
        source = self.write("kernel.cpp", kernel(**how))
        return self.run_expecting(code, "--json", "--operators", self.dir, "evaluate", source, "-d", "pick", "--no-archive", *more).json["evaluations"][0]["probe"]["verdict"]

    def test_the_verdict_says_how_many_rows_and_what_they_see(self):
        verdict = self.judge(ROWS, HOLDS)
        self.assertEqual(verdict["word"], "CORRECT")
        seen = verdict["workloads"][0]["sampled_rows"]
        self.assertEqual((seen["rows"], seen["compared"], seen["trials"]), (ROWS, 128, 59))
        self.assertAlmostEqual((1 - seen["seen_share"])**(126 * 59), 0.05)
        self.assertIn(f"128 of {ROWS} rows compared in each of 59 trials", " ".join(verdict["correctness"]["details"]))

    def test_a_small_output_is_compared_whole(self):
        verdict = self.judge(500, FAILS, wrong="r == 77")
        self.assertEqual(verdict["finding"], "REJECT_WRONG")
        self.assertNotIn("sampled_rows", verdict["workloads"][0])
        self.assertEqual(verdict["mismatch"]["at"], [77, 0])

    def test_wrong_rows_are_found_by_their_share(self):
        # The last row is always among those compared. One in 40 gets through a gate with (1 - 1/40)^(126 59) < 1e-80.
        for wrong in ("r == rows - 1", "r % 40 == 7"):
            with self.subTest(wrong):
                verdict = self.judge(ROWS, FAILS, wrong=wrong)
                self.assertEqual(verdict["finding"], "REJECT_WRONG")
                row = verdict["mismatch"]["at"][0]
                self.assertTrue(row == ROWS - 1 if "rows" in wrong else row % 40 == 7, row)

    def test_every_row_must_be_finite(self):
        verdict = self.judge(ROWS, FAILS, greater="r == 4000 ? 1e38f * 1e38f : x[0] > x[1] ? x[0] : x[1]")
        self.assertEqual(verdict["finding"], "REJECT_WRONG")
        self.assertEqual(verdict["mismatch"]["at"], [4000, 0])

    def test_right_answers_to_near_ties_pass(self):
        # Of each workload the first trial, which is called twice, has them with a probability of one half.
        self.assertEqual(self.judge(range(1, 13), HOLDS)["word"], "CORRECT")

    def test_near_ties_come_from_the_oracle(self):
        # A choice by steps of 2^-12: of pairs drawn at random one in some 15,000 lies that close the wrong way round.
        coarse = "__builtin_floorf(x[0] * 4096) >= __builtin_floorf(x[1] * 4096) ? x[0] : x[1]"
        verdict = self.judge(4, FAILS, greater=coarse)
        self.assertEqual((verdict["finding"], verdict["mismatch"]["input_class"]), ("REJECT_WRONG", "near_ties"))


if __name__ == "__main__":
    unittest.main()
