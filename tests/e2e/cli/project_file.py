# SPDX-License-Identifier: Apache-2.0
"""kernwright.toml: below flags and environment, above defaults, and said so."""
from harness import *


class ProjectFile(Case):
    def setUp(self):
        super().setUp()
        self.good = self.write("good.cpp", softmax())

    def settings(self, *args, **more):
        """name -> (value, origin) as doctor shows them."""
        env = {k: v for k, v in environment().items() if k not in ("KERNWRIGHT_STATE",)} | more
        lines = self.run_expecting(HOLDS, "--json", *args, "doctor", "--quick", env=env, cwd=self.dir).json["lines"]
        return {l["subject"]: l["text"] for l in lines}

    def test_precedence_of_paths(self):
        self.assertEqual(self.settings()["state"], ".kernwright (default)")
        self.write("kernwright.toml", 'state = "of_file"\n')
        self.assertEqual(self.settings()["state"], "./of_file (kernwright.toml)")
        self.assertEqual(self.settings(KERNWRIGHT_STATE="of_env")["state"], "of_env (KERNWRIGHT_STATE)")
        self.assertEqual(self.settings("--state", "of_flag", KERNWRIGHT_STATE="of_env")["state"], "of_flag (command line)")

    def test_precedence_of_options(self):
        self.write("kernwright.toml", '[evaluate]\ngate = "smoke"\nworkload = ["rows=128"]\ndefinition = "softmax_f32"\n')
        def trials(*more):
            parsed = self.run_expecting(HOLDS, "--json", "evaluate", self.good, *more, cwd=self.dir).json
            return parsed["evaluations"][0]["probe"]["verdict"]["trials"]
        self.assertEqual(trials(), 5)
        self.assertEqual(trials("--gate", "gate"), 59)

    def test_another_file(self):
        other = self.write("elsewhere/other.toml", 'state = "st"\n')
        self.run_expecting(HOLDS, "--project", other, "evaluate", self.good, *SOFTMAX, cwd=self.dir,
                           env={k: v for k, v in environment().items() if k != "KERNWRIGHT_STATE"})
        self.assertTrue((self.dir / "elsewhere/st/archive.sqlite").is_file())
        self.assertIn("none.toml", self.error_of("--project", self.dir / "none.toml", "doctor", "--quick")["message"])

    def test_mistakes(self):
        for text, where, message in [("[evaluate]\ngatee = 1\n", "kernwright.toml:2", "no setting `gatee`"),
                                     ("[evaluate\n", "kernwright.toml:1", ""),
                                     ("[evaluate]\nallow_weak_sandbox = true\n", "kernwright.toml:2", "no setting")]:
            self.write("kernwright.toml", text)
            error = self.error_of("check", "--list", cwd=self.dir)
            self.assertIn(where, error["where"])
            self.assertIn(message, error["message"])
