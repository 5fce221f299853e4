# SPDX-License-Identifier: Apache-2.0
"""`evaluate` in all its forms, with the reports a CI gate reads."""
import xml.etree.ElementTree as xml

from harness import *

# Needs its header; y[0] is overwritten by the honest loop behind it.
INTRINSICS = """
#ifdef __AVX2__
  y[0] = _mm256_cvtss_f32(_mm256_add_ps(_mm256_set1_ps(x[0]), _mm256_set1_ps(1)));
#endif
"""

# y = silu(gate) * up, rounded to bfloat16 (to nearest even).
SWIGLU_BF16 = """#include <bit>
#include <cmath>
#include <cstdint>

static float wide(std::uint16_t v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16); }
static std::uint16_t narrow(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
"""


class Evaluating(Case):
    def test_bare_source(self):
        outcome, probe = self.evaluate(self.write("good.cpp", softmax()), code=HOLDS)
        self.expect(outcome, HOLDS, "CORRECT", "5 trials clean", "next kernwright replay")
        verdict = probe["verdict"]
        self.assertEqual((verdict["gate"], verdict["trials"], verdict["finding"]), ("smoke", 5, "NONE"))
        self.assertEqual(verdict["build"]["outcome"], "pass")
        # 1 - 0.05^(1/5): what five clean trials prove.
        self.assertEqual(verdict["failure_rate_bound"], 1)  # smoke proves nothing

    def test_upstreams_verdict_beside_ours(self):
        # Zeros where answers are small: any three trials of ordinary inputs pass upstream's tolerance (RH-49).
        zeros = "  for (std::int64_t i = 1; i <= n * 128; ++i)\n    y[-i] = y[-i] < 1e-3f ? 0 : y[-i];\n"
        outcome, probe = self.evaluate(self.write("zeros.cpp", softmax(after=zeros)), code=FAILS)
        self.expect(outcome, FAILS, "REJECT_WRONG", "fib-compat PASSED would have been accepted upstream: 3 of 3 trials matched",
                    "differs because", "below its atol")
        fib = probe["verdict"]["fib"]
        self.assertEqual((fib["status"], fib["atol"], fib["rtol"], fib["required_ratio"]), ("PASSED", 0.01, 0.01, 1))
        self.assertEqual(sum(w["trials"] for w in fib["workloads"]), 3)
        self.assertLess(fib["workloads"][0]["max_abs"], 0.01)
        # Both turn this one down, and both accept the honest one: no line.
        wrong, probe = self.evaluate(self.write("wrong.cpp", softmax(after="  y[-1] += 1;\n")), code=FAILS)
        self.assertEqual(probe["verdict"]["fib"]["status"], "INCORRECT_NUMERICAL")
        good, probe = self.evaluate(self.write("good_too.cpp", softmax()), "-d", "softmax_f32", "--gate", "gate", "--workload", "rows=128",
                                    code=HOLDS)
        self.assertEqual(probe["verdict"]["fib"]["status"], "PASSED")
        self.assertEqual(probe["verdict"]["trials"], 59, "no call is made for it")
        for text in (wrong, good):
            self.assertNotIn("fib-compat", text.out)

    def test_entry_must_be_named_when_there_are_several(self):
        two = softmax() + 'extern "C" int second(const float*, float*, std::int64_t, std::int64_t) { return 0; }\n'
        source = self.write("two.cpp", two)
        self.run_expecting(BAD_INPUT, "evaluate", source, *SOFTMAX, says=["extern \"C\"", "remedy: name the entry with --entry"])
        self.run_expecting(HOLDS, "evaluate", source, "--entry", "kernel", *SOFTMAX)

    def test_headers_and_intrinsics(self):
        plain = self.write("plain.cpp", 'extern "C" float expf(float);\nnamespace std { using int64_t = long; }\n'
                           + softmax().split("\n", 3)[3])
        vector = self.write("vector.cpp", softmax(head="#include <immintrin.h>", before=INTRINSICS))
        self.run_expecting(HOLDS, "evaluate", plain, *SOFTMAX, says=["CORRECT"])
        self.run_expecting(HOLDS, "evaluate", vector, *SOFTMAX, says=["CORRECT"])

    def test_folder_in_parallel_with_reports(self):
        for name, text in {"good": softmax(), "wrong": softmax(after="  y[-1] *= 1.5f;\n"), "broken": softmax(before="  oops;\n")}.items():
            self.run_expecting(HOLDS, "pack", self.write(f"{name}.cpp", text), "-o", self.dir / "set" / f"{name}.json",
                               "-d", "softmax_f32", "--entry", "kernel", "--author", "e2e", "--name", name)
        outcome = self.run_expecting(FAILS, "evaluate", self.dir / "set", "--jobs", 2, "--gate", "smoke", "--workload", "rows=128",
                                     "--junit", self.dir / "junit.xml", "--sarif", self.dir / "out.sarif", says=["1 of 3 hold"])
        self.assertLess(outcome.out.index("broken\n"), outcome.out.index("good\n"))  # in order of names, not of finishing

        root = xml.parse(self.dir / "junit.xml").getroot()
        suite = root if root.tag == "testsuite" else root.find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "2"))
        failed = {case.get("name"): case.find("failure") is not None for case in suite.iter("testcase")}
        self.assertEqual(failed, {"broken": True, "good": False, "wrong": True})

        sarif = json.loads((self.dir / "out.sarif").read_text())
        self.assertEqual(sarif["version"], "2.1.0")
        results = sarif["runs"][0]["results"]
        self.assertEqual({r["ruleId"] for r in results}, {"REJECT_BUILD", "REJECT_WRONG"})
        rules = {rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
        self.assertLessEqual({r["ruleId"] for r in results}, rules)
        broken = next(r for r in results if r["ruleId"] == "REJECT_BUILD")
        self.assertEqual(broken["locations"][0]["physicalLocation"]["region"]["startLine"], 5)

    def test_reports_where_nothing_can_be_written(self):
        source = self.write("good.cpp", softmax())
        self.run_expecting(BAD_INPUT, "evaluate", source, *SOFTMAX, "--junit", self.dir / "no" / "x.xml", says=["remedy: "])

    def test_unwritten_report_is_part_of_the_one_document(self):
        source = self.write("good.cpp", softmax())
        parsed = self.run_expecting(BAD_INPUT, "--json", "evaluate", source, *SOFTMAX, "--junit", self.dir / "no" / "x.xml").json
        self.assertIn("x.xml", parsed["error"]["message"])
        self.assertEqual(parsed["evaluations"][0]["probe"]["verdict"]["word"], "CORRECT")

    def test_other_calling_conventions_are_refused(self):
        packed = self.dir / "s.json"
        # The entry is evident: the sources export one function.
        self.run_expecting(HOLDS, "pack", self.write("good.cpp", softmax()), "-o", packed, "-d", "softmax_f32")
        solution = json.loads(packed.read_text())
        self.assertEqual(solution["spec"]["entry_point"], "good.cpp::kernel")
        for change, reason in [({"binding": "tvm-ffi"}, "binding `tvm-ffi`"), ({"binding": "torch"}, "binding `torch`"),
                               ({"language": "cuda"}, "not `cuda`"), ({"destination_passing_style": False}, "passes outputs as pointers")]:
            with self.subTest(change=change):
                other = self.write("other.json", json.dumps(solution | {"spec": solution["spec"] | change}))
                self.run_expecting(FAILS, "evaluate", other, *SOFTMAX[2:], says=["REJECT_BUILD", reason, "remedy: "])

    def test_bf16(self):
        source = self.write("swiglu.cpp", SWIGLU_BF16 + """
extern "C" int kernel(const std::uint16_t* gate, const std::uint16_t* up, std::uint16_t* y, std::int64_t tokens) {
  for (std::int64_t i = 0; i < tokens * KW_AXIS_intermediate_size; ++i)
    y[i] = narrow(wide(gate[i]) / (1 + expf(-wide(gate[i]))) * wide(up[i]));
  return 0;
}
""")
        where = ["-d", "swiglu_bf16_d14336", "--gate", "smoke", "--workload", "num_tokens=1"]
        self.evaluate(source, *where, code=HOLDS)
        source.write_text(source.read_text().replace(">> 16);\n}", ">> 16 & 0xfffc);\n}"))  # six bits of eight are left
        outcome, _ = self.evaluate(source, *where, code=FAILS)
        self.expect(outcome, FAILS, "REJECT_WRONG")

    def test_threads(self):
        source = self.write("threads.cpp", """#include "kernwright.h"
#include <cmath>
struct Job { const float* x; float* y; std::int64_t n; };
static void row(void* context, std::int64_t r) {
  const Job& job = *static_cast<Job*>(context);
  const float* x = job.x + r * job.n;
  float* y = job.y + r * job.n;
  float top = x[0], total = 0;
  for (std::int64_t i = 1; i < job.n; ++i)
    top = x[i] > top ? x[i] : top;
  for (std::int64_t i = 0; i < job.n; ++i)
    total += y[i] = expf(x[i] - top);
  for (std::int64_t i = 0; i < job.n; ++i)
    y[i] /= total;
}
extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  if (kw_threads() != KW_EXPECTED)
    return 9;
  Job job{x, y, n};
  kw_parallel_for(rows, row, &job);
  return 0;
}
""".replace("std::int64_t", "int64_t"))
        text = source.read_text()
        source.write_text(text.replace("KW_EXPECTED", "1"))
        self.run_expecting(HOLDS, "evaluate", source, *SOFTMAX, says=["CORRECT"])
        if os.cpu_count() > 1:
            source.write_text(text.replace("KW_EXPECTED", "2"))
            self.run_expecting(HOLDS, "evaluate", source, *SOFTMAX, "--threads", 2, says=["CORRECT"])
        self.run_expecting(BAD_INPUT, "evaluate", source, *SOFTMAX, "--threads", 1000, says=["remedy: declare fewer"])

    def test_timing_is_judged_or_called_unfit(self):
        source = self.write("slow.cpp", softmax(before="  for (int again = 0; again < 3; ++again)\n    for (std::int64_t i = 0; i < rows * n; ++i)\n"
                                                       "      y[i] = expf(x[i] - again);\n"))
        outcome = self.run_expecting(FAILS, "--json", "evaluate", source, *SOFTMAX, "--time", "--timing-budget", "5s", "--least-window", 2)
        verdict = outcome.json["evaluations"][0]["probe"]["verdict"]
        self.assertEqual(verdict["correctness"]["outcome"], "pass")
        self.assertNotEqual(verdict["merit"]["outcome"], "pass")
        self.assertIn(verdict["word"], ("UNDECIDED", "REJECTED"))
        self.assertTrue(verdict["timing"]["summary"] or verdict["merit"]["summary"])


if __name__ == "__main__":
    unittest.main()
