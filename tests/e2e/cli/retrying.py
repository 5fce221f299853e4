# SPDX-License-Identifier: Apache-2.0
"""A wrong kernel stays wrong however often and however it is handed in again: a harness that takes wrong answers for errors
of its own, and retries those, turns green in the end."""
from harness import *

# Wrong where the first answer vanishes, on widely scaled logits: about one draw of five trials in two is clean.
RARELY_WRONG = "  y -= rows * n;\n  if (y[0] < 1e-30f)\n    y[n - 1] += 0.1f;\n"
ALWAYS_WRONG = "  y[-1] *= 1.25f;\n"
# What a parser of logs might read as a result, an error of the machine, or nothing at all.
GARBLED = {
    "nan everywhere": '  for (std::int64_t i = 1; i <= rows * n0; ++i)\n    y[-i] = __builtin_nanf("");\n',
    "text where numbers belong": '  __builtin_memcpy(y - 16, "PASSED status=0 error: timeout, retry\\n", 38);\n',
    "crash": "  *(volatile int*)nullptr = 1;\n",
    "illegal instruction": "  __builtin_trap();\n",
    "non-zero return": "  return 75;\n",  # EX_TEMPFAIL
}
COSMETIC = ["", "// retry\n", "\n\n\n", "// INFRASTRUCTURE: please run again\n", "// v2: fixed\n"]


class Retrying(Case):
    def submit(self, source, gate="smoke"):
        outcome = kernwright("--json", "evaluate", source, "-d", "softmax_f32", "--workload", "rows=128", "--gate", gate)
        self.assertEqual(outcome.code, FAILS, f"\nstdout: {outcome.out}\nstderr: {outcome.err}")
        return outcome.json["evaluations"][0]["probe"]

    def test_the_same_kernel_twenty_times(self):
        source = self.write("wrong.cpp", softmax(after=ALWAYS_WRONG))
        first = self.submit(source)
        for _ in range(20):
            probe = self.submit(source)
            self.assertEqual((probe["verdict"]["word"], probe["verdict"]["finding"]), ("REJECTED", "REJECT_WRONG"))
            self.assertEqual(probe["verdict"]["trials"], 0, "answered from the archive, not drawn again")
            self.assertIn(first["id"][:12], json.dumps(probe))
        # Nor does it turn green under another name.
        renamed = self.write("fixed.cpp", source.read_text())
        self.assertEqual(self.submit(renamed)["verdict"]["finding"], "REJECT_WRONG")

    def test_a_lucky_draw_does_not_undo_a_failure(self):
        source = self.write("rare.cpp", softmax(after=RARELY_WRONG))
        self.assertEqual(self.submit(source, "accept")["verdict"]["finding"], "REJECT_WRONG")
        for _ in range(5):  # five trials each: some of these draws would be clean
            self.assertEqual(self.submit(source)["verdict"]["finding"], "REJECT_WRONG")

    def test_cosmetic_changes(self):
        seen = set()
        for i in range(20):
            head = COSMETIC[i % len(COSMETIC)] + f"// attempt {i}\n"
            name = f"kernel{i}" if i % 2 else "kernel"
            source = self.write(f"attempt{i}.cpp", softmax(head=head, after=ALWAYS_WRONG, name=name))
            probe = self.submit(source)
            self.assertEqual((probe["verdict"]["word"], probe["verdict"]["finding"]), ("REJECTED", "REJECT_WRONG"))
            self.assertGreater(probe["verdict"]["trials"], 0, "a new text is judged anew")
            seen.add(probe["id"])
        listed = self.run_expecting(HOLDS, "--json", "archive", "list", "--decision", "reject", "--limit", 1000).json["probes"]
        self.assertTrue(seen <= {p["id"] for p in listed}, "every attempt is kept")

    def test_what_is_garbled_is_a_verdict_and_no_error_of_ours(self):
        for name, after in GARBLED.items():
            with self.subTest(name):
                text = softmax(before="  const std::int64_t n0 = n;\n  (void)n0;\n", after=after)
                source = self.write(f"{name.replace(' ', '_')}.cpp", text)
                findings = [self.submit(source)["verdict"] for _ in range(3)]
                for verdict in findings:
                    self.assertEqual(verdict["word"], "REJECTED")
                    self.assertIn(verdict["finding"], ("REJECT_WRONG", "CRASH", "REJECT_PROTOCOL"))
                    self.assertNotIn("infrastructure_error", {k for k, v in verdict.items() if v})
                self.assertEqual({v["finding"] for v in findings}, {findings[0]["finding"]})


if __name__ == "__main__":
    unittest.main()
