# SPDX-License-Identifier: Apache-2.0
"""Kernels that must be turned down, each with a message that says what to do."""
from harness import *

# clone(SIGCHLD, 0, ...): what fork() does, without a library that admission would refuse.
FORK = """
  register long flags asm("rdi") = 17;
  long pid;
  asm volatile("syscall" : "=a"(pid) : "a"(56), "r"(flags), "S"(0), "d"(0) : "rcx", "r11", "memory");
"""


class BadKernels(Case):
    def rejected(self, text, finding, axis, *sentences, name="bad.cpp"):
        outcome, probe = self.evaluate(self.write(name, text), code=FAILS)
        self.expect(outcome, FAILS, "REJECTED", finding, *sentences)
        verdict = probe["verdict"]
        self.assertEqual((verdict["word"], verdict["finding"], verdict["accepted"]), ("REJECTED", finding, False))
        self.assertEqual(verdict[axis]["outcome"], "fail")
        self.assertEqual(probe["decision"], "reject")
        self.assertTrue(probe["reason"])
        return verdict

    def test_does_not_compile(self):
        verdict = self.rejected(softmax(before="  int a = undefined_thing + 1;\n  y[0] = a;\n"), "REJECT_BUILD", "build",
                                "does not compile", "bad.cpp:5:11", "'undefined_thing' was not declared",
                                "^~~~~~~~~~~~~~~")
        first = verdict["diagnostics"][0]
        self.assertEqual((first["severity"], first["file"], first["line"], first["column"]), ("error", "bad.cpp", 5, 11))

    def test_crash(self):
        verdict = self.rejected(softmax(before="  *(volatile int*)nullptr = 1;\n"), "CRASH", "correctness",
                                "SIGSEGV, writing through a null pointer", "remedy: check the bounds")
        self.assertEqual(verdict["sandbox"]["outcome"], "pass")

    def test_hang_meets_the_call_limit(self):
        source = self.write("hang.cpp", softmax(before='  for (;;)\n    asm volatile("");\n'))
        outcome = self.run_expecting(FAILS, "--json", "evaluate", source, *SOFTMAX)
        verdict = outcome.json["evaluations"][0]["probe"]["verdict"]
        self.assertEqual(verdict["finding"], "REJECT_RESOURCE")
        self.assertIn("the call did not return: no answer within 2", verdict["correctness"]["summary"])
        self.assertIn("remedy: look for a loop that does not end", verdict["correctness"]["details"][0])

    def test_fork(self):
        self.rejected(softmax(before=FORK), "REJECT_SANDBOX", "sandbox", "forbidden system call",
                      "remedy: a kernel computes and nothing else")

    def test_write_past_the_end(self):
        self.rejected(softmax(after="  y[3] = 1;\n"), "CRASH", "correctness", "writing 12 bytes past the end of output 0")

    def test_write_before_the_start(self):
        # Whether the byte before lies in a guard page or in a canary depends on the placement drawn.
        source = self.write("before.cpp", softmax(before="  y[-1] = 1;\n"))
        outcome = self.run_expecting(FAILS, "--json", "evaluate", source, *SOFTMAX)
        verdict = outcome.json["evaluations"][0]["probe"]["verdict"]
        self.assertIn(verdict["finding"], ("CRASH", "REJECT_STATE"))

    def test_nan(self):
        verdict = self.rejected(softmax(after='  y[-1] = __builtin_nanf("");\n'), "REJECT_WRONG", "correctness",
                                "NaN", "`y`", "[127, 511]", "got nan, should be", "reproduce kernwright replay")
        self.assertEqual(verdict["mismatch"]["workload"], verdict["workloads"][0]["uuid"])
        self.assertEqual(verdict["mismatch"]["bad_elements"], 1)

    def test_nothing_written(self):
        verdict = self.rejected(softmax(body=""), "REJECT_WRONG", "correctness", "65536 of 65536 elements", "the kernel never wrote them")
        self.assertEqual(verdict["mismatch"]["pattern"], "poison left")

    def test_last_row_not_written(self):
        text = softmax(before="  rows -= rows > 1;\n")
        verdict = self.rejected(text, "REJECT_WRONG", "correctness", "512 of 65536 elements", "first at [127, 0]", "the kernel never wrote them")
        self.assertEqual(verdict["mismatch"]["pattern"], "poison left")

    def test_a_wrong_remainder_loop_is_named_by_its_columns(self):
        # n = 3 x 32 + 31 on this workload: wrong is what whole vectors leave of a row.
        text = softmax(after="  y -= rows * n;\n  for (std::int64_t r = 0; r < rows; ++r)\n"
                             "    for (std::int64_t i = n - n % 32; i < n; ++i)\n      y[r * n + i] += 1;\n")
        source = self.write("tail.cpp", text)
        args = ("-d", "softmax_f32", "--gate", "smoke", "--workload", "n=127")
        outcome, probe = self.evaluate(source, *args, code=FAILS)
        where = "all in columns 96..126 (the last 31 of 127, 127 mod 32: a remainder loop?)"
        self.expect(outcome, FAILS, "REJECT_WRONG", "527 of 2159 elements", where, "first at [0, 96]", "only the end of rows is off",
                    "worst row", " ulp")
        verdict = probe["verdict"]
        self.assertIn(where, verdict["correctness"]["summary"])
        place = verdict["mismatch"]["place"]
        self.assertEqual((place["cluster"], place["text"]), ("last columns", where))
        self.assertEqual((place["first_column"], place["last_column"], place["bad_columns"]), (96, 126, 31))
        self.assertEqual((place["bad_rows"], place["rows"], place["first_row"]), (17, 17, 0))
        self.assertIn(place["worst_tile_column"], (96, 112))
        self.assertGreater(place["worst_tile_error"], place["relative_error"])

    def test_one_wrong_row_is_named(self):
        text = softmax(after="  for (std::int64_t i = 0; rows > 17 && i < n; ++i)\n    (y - (rows - 17) * n)[i] += 1;\n")
        verdict = self.rejected(text, "REJECT_WRONG", "correctness", "512 of 65536 elements", "the whole of row 17", "worst row 17: ")
        self.assertEqual(verdict["mismatch"]["place"]["cluster"], "row")

    def test_shape_refused(self):
        self.rejected(softmax(before="  if (rows == 128)\n    return 7;\n"), "REJECT_PROTOCOL", "correctness",
                      "returned 7", "inside the contract")

    def test_malloc_is_named_with_its_line_and_replacement(self):
        self.rejected(softmax(head="#include <cstdlib>", after="  y[-1] += static_cast<float*>(malloc(4))[0];\n"),
                      "REJECT_STATIC", "build", "not admitted", "bad.cpp:15: malloc: heap allocation", "kw_workspace")

    def test_static_storage(self):
        self.rejected(softmax(head="static float seen[1024];", after="  y[-1] += seen[n]; seen[n] = y[-1];\n"),
                      "REJECT_STATIC", "build", "not admitted")

    def test_wrong_answer_is_sticky(self):
        source = self.write("sticky.cpp", softmax(after="  y[-1] *= 1.5f;\n"))
        first = self.run_expecting(FAILS, "--json", "evaluate", source, *SOFTMAX).json["evaluations"][0]["probe"]
        self.assertEqual(first["verdict"]["finding"], "REJECT_WRONG")
        self.run_expecting(FAILS, "evaluate", source, *SOFTMAX,
                           says=["this very solution failed before", f"kernwright archive show {first['id'][:12]}"])
        probe = self.run_expecting(FAILS, "--json", "evaluate", source, *SOFTMAX).json["evaluations"][0]["probe"]
        self.assertEqual(probe["verdict"]["finding"], "REJECT_WRONG")
        self.assertEqual(probe["verdict"]["trials"], 0)
        # A change of the source is a new solution.
        source.write_text(softmax())
        self.run_expecting(HOLDS, "evaluate", source, *SOFTMAX, says=["CORRECT"])


if __name__ == "__main__":
    unittest.main()
