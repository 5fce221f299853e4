# SPDX-License-Identifier: Apache-2.0
"""Top-k: any right order of equal elements is right, everything else is wrong with the reason."""
from harness import *

TOPK = ["-d", "topk_f32_k8", "--workload", "rows=256"]
LONG = ["-d", "topk_f32_k8", "--workload", "rows=32"]

# Insertion; of equal elements the first (`>`) or the last (`>=`) comes first.
KERNEL = """#include <cstdint>

extern "C" int kernel(const float* x, float* values, int32_t* indices, int64_t rows, int64_t n) {
  constexpr int64_t k = KW_AXIS_k;
  for (int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    for (int64_t i = 0; i < LENGTH; ++i) {
      if (i >= k && !(x[i] ABOVE values[k - 1]))
        continue;
      int64_t j = i < k ? i : k - 1;
      for (; j > 0 && x[i] ABOVE values[j - 1]; --j)
        values[j] = values[j - 1], indices[j] = indices[j - 1];
      values[j] = x[i];
      indices[j] = static_cast<int32_t>(i);
    }
    AFTER
  }
  return 0;
}
"""


def topk(above=">", length="n", after=""):
    return KERNEL.replace("ABOVE", above).replace("LENGTH", length).replace("AFTER", after)


class Ranking(Case):
    def test_every_order_of_equal_elements_is_right(self):
        for above in (">", ">="):
            with self.subTest(above):
                outcome, probe = self.evaluate(self.write("k.cpp", topk(above)), *TOPK, "--gate", "accept", code=HOLDS)
                self.expect(outcome, HOLDS, "CORRECT", "ranked rows: ")
                verdict = probe["verdict"]
                # 299, as many mined as an operator without rounding errors gets, and eight hidden shapes of three.
                self.assertEqual(verdict["trials"], 299 + 64 + 24)
                listed = verdict["workloads"][0]["ranking"]
                self.assertGreater(listed["tied"], 1000)
                self.assertEqual(listed["least_margin"], 1)
                self.assertEqual(listed["reordered"] > 0, above == ">=", listed)
                self.assertEqual(verdict["fib"]["status"], "PASSED")

    def test_faults_are_named(self):
        for name, source, says in [
            ("range", topk(after="indices[3] = static_cast<int32_t>(n);"), "place 256 is outside [0, 256); pattern: out of range"),
            ("twice", topk(after="indices[1] = indices[0];"), "as number 0 and 1; pattern: repeated"),
            ("swapped", topk(after="const int32_t a = indices[0]; indices[0] = indices[7]; indices[7] = a;"), "pattern: other value"),
            ("unwritten", topk().replace("indices[j] = indices[j - 1];", "j += 0;").replace("indices[j] = static_cast<int32_t>(i);", ""),
             "pattern: poison left"),
        ]:
            with self.subTest(name):
                outcome, probe = self.evaluate(self.write(f"{name}.cpp", source), *TOPK, "--gate", "smoke", code=FAILS)
                self.expect(outcome, FAILS, "REJECT_WRONG", "rows of `indices` wrong on rows=256 n=256", says)
                self.assertEqual(probe["verdict"]["mismatch"]["output"], "indices")

    def test_choices_and_order(self):
        """The rules that only the row itself can decide, through the whole judge."""
        swap = "const float v = values[0]; const int32_t a = indices[0]; values[0] = values[7]; indices[0] = indices[7]; values[7] = v; indices[7] = a;"
        skip = topk().replace("for (int64_t i = 0; i < n; ++i) {", "for (int64_t i = 0; i < n; ++i) {\n      if (i >= k && i % 7 == 3) continue;")
        for name, source, says in [("order", topk(after=swap), "not in descending order; pattern: order"),
                                   ("skips", skip, "left out, which is greater by")]:
            with self.subTest(name):
                source = self.write(f"{name}.cpp", source)
                self.run_expecting(FAILS, "evaluate", source, *TOPK, "--gate", "gate", "--no-archive", says=["REJECT_WRONG", says])

    def test_values_are_exact(self):
        for name, after, says in [("ulp", "values[7] *= 1 + 0x1p-23f;", "but `values` has"),
                                  ("other", "values[7] = values[6];", "pattern: other value")]:
            with self.subTest(name):
                source = self.write(f"{name}.cpp", topk(after=after))
                self.run_expecting(FAILS, "evaluate", source, *TOPK, "--gate", "gate", "--no-archive", says=["REJECT_WRONG", says])

    def test_the_tail_belongs_to_the_row(self):
        source = self.write("tail.cpp", topk(length="n - n % 16"))
        self.run_expecting(HOLDS, "evaluate", source, *TOPK, "--gate", "gate", "--no-archive")
        self.run_expecting(FAILS, "evaluate", source, "-d", "topk_f32_k8", "--workload", "rows=17", "--gate", "gate", "--no-archive",
                           says=["REJECT_WRONG"])

    def test_long_rows(self):
        self.run_expecting(HOLDS, "evaluate", self.write("long.cpp", topk()), *LONG, "--gate", "gate", says=["59 trials clean"])

    def test_there_is_nothing_to_tune(self):
        error = self.error_of("optimize", "topk_f32_k8", "--budget", "5s")
        self.assertIn("`topk_f32_k8` has no kernel templates", error["message"])
        self.assertIn("evaluate", error["remedy"])

    def test_trace_set(self):
        state, out = self.dir / "state", self.dir / "set"
        self.run_expecting(HOLDS, "--state", state, "evaluate", self.write("k.cpp", topk()), *TOPK, "--gate", "smoke")
        self.run_expecting(HOLDS, "--state", state, "export", "--trace-set", "--traces", "-o", out)
        self.run_expecting(HOLDS, "check", out)
        written = json.loads((out / "definitions" / "topk" / "topk_f32_k8.json").read_text())
        self.assertEqual(written["x_kernwright"]["tolerance"]["indices"], {"ranks": "x", "values": "values"})
        self.assertIn("torch.topk", written["reference"])


if __name__ == "__main__":
    unittest.main()
