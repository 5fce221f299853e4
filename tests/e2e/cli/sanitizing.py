# SPDX-License-Identifier: Apache-2.0
"""Builds with sanitizers: what they see that no ordinary call shows, and what they cost an honest kernel."""
from harness import *

SMOKE = [*SOFTMAX, "--entry", "kernel"]
# Right in every call: the surplus is never used. `y` and `x` point past their ends here.
UNSEEN = {
    "workspace": ("  auto* w = static_cast<float*>(kw_workspace(400));\n  w[100] = 1;\n  asm volatile(\"\" ::\"r\"(w) : \"memory\");\n",
                  "AddressSanitizer: use-after-poison", "ask kw_workspace for as many bytes"),
    "overflow": ("  int k = 2147483647;\n  asm volatile(\"\" : \"+r\"(k));\n  k += static_cast<int>(n);\n  asm volatile(\"\" ::\"r\"(k));\n",
                 "signed integer overflow", "compute in a type"),
    "shift": ("  int k = 40;\n  asm volatile(\"\" : \"+r\"(k));\n  k = 1 << k;\n  asm volatile(\"\" ::\"r\"(k));\n",
              "shift exponent 40 is too large", "compute in a type"),
    "scope": ("  int* p;\n  {\n    int q = 1;\n    p = &q;\n    asm volatile(\"\" : \"+r\"(p)::\"memory\");\n  }\n"
              "  int z = *p;\n  asm volatile(\"\" ::\"r\"(z));\n", "AddressSanitizer: stack-use-after-scope", "stay inside"),
}


class Sanitizing(Case):
    def judge(self, text, *more, code, name="k.cpp"):
        source = self.write(name, text)
        return self.run_expecting(code, "--json", "evaluate", source, "--no-archive", *SMOKE, *more).json["evaluations"][0]["probe"]["verdict"]

    def test_what_no_call_shows(self):
        for name, (before, said, remedy) in UNSEEN.items():
            with self.subTest(name):
                text = softmax(head='#include "kernwright.h"', before=before)
                self.assertEqual(self.judge(text, code=HOLDS)["word"], "CORRECT")
                sarif = self.dir / f"{name}.sarif"
                verdict = self.judge(text, "--sanitize", "--sarif", sarif, code=FAILS)
                self.assertEqual((verdict["finding"], verdict["correctness"]["outcome"]), ("REJECT_SANITIZER", "fail"))
                self.assertIn(said, verdict["correctness"]["summary"])
                self.assertIn(remedy, " ".join(verdict["correctness"]["details"]))
                run = verdict["sanitized"][0]
                self.assertEqual((run["sanitizers"], run["outcome"]), ("address,undefined", "fail"))
                found = verdict["diagnostics"][-1]
                self.assertEqual((found["file"], found["severity"], found["code"]), ("k.cpp", "error", "-fsanitize=address,undefined"))
                self.assertGreater(found["line"], 4)
                result = json.loads(sarif.read_text())["runs"][0]["results"]
                place = [r["locations"][0]["physicalLocation"] for r in result if "region" in r["locations"][0]["physicalLocation"]]
                self.assertEqual([(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in place], [("k.cpp", found["line"])])
                self.assertEqual({r["ruleId"] for r in result}, {"REJECT_SANITIZER"})
                # Neither addresses nor folders of this machine.
                self.assertNotIn("0x", json.dumps(verdict["correctness"]))
                self.assertNotIn(str(self.dir.parent), json.dumps(verdict))

    def test_people_see_the_line(self):
        source = self.write("k.cpp", softmax(head='#include "kernwright.h"', before=UNSEEN["workspace"][0]))
        outcome = self.run_expecting(FAILS, "evaluate", source, "--no-archive", *SMOKE, "--sanitize",
                                     says=["REJECT_SANITIZER", "k.cpp:6", "w[100] = 1;"])
        self.assertLess(outcome.out.index("correctness"), outcome.out.index("w[100] = 1;"))

    def test_honest_kernel_is_clean_and_says_so(self):
        source = self.write("k.cpp", softmax())
        self.run_expecting(HOLDS, "evaluate", source, "--no-archive", *SMOKE, "--sanitize", says=["sanitizers address,undefined: 2 calls clean"])
        verdict = self.judge(softmax(), "--sanitize=address,undefined,thread", code=HOLDS)
        self.assertEqual([(r["sanitizers"], r["outcome"]) for r in verdict["sanitized"]],
                         [("address,undefined", "pass"), ("thread", "unknown")])
        self.assertIn("one declared thread", verdict["sanitized"][1]["summary"])

    @unittest.skipIf(os.cpu_count() < 2, "a race takes two threads")
    def test_race(self):
        head = '#include "kernwright.h"\nstruct Call { long done; };\nstatic void count(void* c, std::int64_t) { ++static_cast<Call*>(c)->done; }\n'
        text = softmax(head=head, before='  Call c{0};\n  kw_parallel_for(64, count, &c);\n  asm volatile("" ::"m"(c));\n')
        two = ("--threads", "2")
        self.assertEqual(self.judge(text, *two, code=HOLDS)["word"], "CORRECT")
        self.assertEqual(self.judge(text, *two, "--sanitize", code=HOLDS)["word"], "CORRECT")
        verdict = self.judge(text, *two, "--sanitize=thread", code=FAILS)
        self.assertIn("ThreadSanitizer: data race", verdict["correctness"]["summary"])
        self.assertIn("k.cpp:5", verdict["correctness"]["summary"])

    def test_champion_asks_for_them_by_itself(self):
        text = softmax(head='#include "kernwright.h"', before=UNSEEN["overflow"][0])
        source = self.write("k.cpp", text)
        task = ["--no-archive", "-d", "softmax_f32", "--workload", "rows=128"]
        for more, code in ((["--gate", "champion"], FAILS), (["--gate", "champion", "--sanitize=none"], HOLDS), (["--gate", "accept"], HOLDS)):
            self.run_expecting(code, "evaluate", source, *task, *more)

    def test_a_source_that_switches_them_off_has_no_answer(self):
        verdict = self.judge("#define NO __attribute__((no_sanitize(\"address\")))\n" + softmax(), "--sanitize", code=HOLDS)
        self.assertEqual(verdict["sanitized"][0]["outcome"], "unknown")
        self.assertIn("k.cpp:1", verdict["sanitized"][0]["summary"])

    def test_unknown_sanitizer(self):
        source = self.write("k.cpp", softmax())
        error = self.error_of("evaluate", source, *SMOKE, "--sanitize=memory")
        self.assertIn("memory", error["message"])

    def test_replay_finds_it_again(self):
        source = self.write("k.cpp", softmax(head='#include "kernwright.h"', before=UNSEEN["shift"][0]))
        probe = self.run_expecting(FAILS, "--json", "evaluate", source, *SMOKE, "--sanitize").json["evaluations"][0]["probe"]
        replay = self.run_expecting(HOLDS, "--json", "replay", probe["id"][:12]).json
        self.assertNotIn("finding changed", json.dumps(replay))

    def test_doctor_knows_the_runtimes(self):
        lines = {l["subject"]: l for l in kernwright("--json", "doctor", "--quick").json["lines"]}
        self.assertEqual(lines["sanitizers"]["state"], "ready")


if __name__ == "__main__":
    unittest.main()
