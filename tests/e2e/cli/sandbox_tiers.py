# SPDX-License-Identifier: Apache-2.0
"""Root and an ordinary user on machines that lack this or that: the tier, what was tried for it, who is turned away."""
from harness import *

WITHOUT = os.environ.get("KW_WITHOUT", os.path.join(os.path.dirname(BIN), "..", "tests", "kw_without"))
NOBODY = 65534
FACILITIES = ("namespaces", "Landlock", "seccomp", "cgroup", "hidden memory")
# What is denied, the facility that then fails, and the best tier that is left.
DENIALS = {"nothing": (None, 3), "namespaces": ("namespaces", 2), "cgroup": ("cgroup", 2), "landlock": ("Landlock", 1), "seccomp": ("seccomp", 0)}
CONTAINER = "namespaces,cgroup,personality"  # what Docker's default profile leaves
BARE = CONTAINER + ",capabilities"  # and with --cap-drop


def tier_of(works):
    if not works["seccomp"]:
        return 0
    if not works["Landlock"]:
        return 1
    return 3 if works["namespaces"] and works["cgroup"] else 2


class SandboxTiers(Case):
    def setUp(self):
        super().setUp()
        self.source = self.write("good.cpp", softmax())
        for path in (self.dir.parent, self.dir):
            path.chmod(0o755)

    def users(self):
        return (None, NOBODY) if os.geteuid() == 0 else (None,)

    def run_lacking(self, denied, user, *args):
        """Each user has state and cache of its own: what root made, nobody may not write."""
        if denied == "cgroup" and os.geteuid() != 0:
            self.skipTest("hiding the control groups takes root")
        home = self.dir / f"home-{user}"
        home.mkdir(exist_ok=True)
        home.chmod(0o777)
        env = environment(TMPDIR=str(home))
        env.update(KERNWRIGHT_STATE=str(home / "state"), KERNWRIGHT_CACHE=str(home / "cache"))
        as_user = ["--user", str(user)] if user is not None else []
        done = subprocess.run([WITHOUT, denied, *as_user, "--", BIN, *map(str, args)], capture_output=True, text=True, timeout=120, env=env, cwd=home)
        if done.returncode == 77 or "Permission denied" in done.stderr and str(BIN) in done.stderr:
            self.skipTest(done.stderr)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def judge(self, denied, user, *more):
        return self.run_lacking(denied, user, "--json", "evaluate", self.source, "--no-archive", *SOFTMAX, *more)

    def each_case(self, check):
        for user in self.users():
            for denied, (facility, best) in DENIALS.items():
                with self.subTest(user=user, denied=denied):
                    check(user, denied, facility, best)

    def test_tier_and_what_it_stands_on(self):
        full = self.full_machine()

        def check(user, denied, facility, best):
            outcome = self.judge(denied, user, "--allow-weak-sandbox")
            self.expect(outcome, HOLDS)
            verdict = outcome.json["evaluations"][0]["probe"]["verdict"]
            works = {f["facility"]: f["works"] for f in verdict["facilities"]}
            self.assertEqual(tuple(works), FACILITIES)
            for f in verdict["facilities"]:
                self.assertTrue(f["tried"] and f["happened"], f)
            if facility:
                self.assertFalse(works[facility], verdict["facilities"])
            tier = int(verdict["tier"][1])
            self.assertEqual(tier, tier_of(works))
            self.assertLessEqual(tier, best)
            if user is None and os.geteuid() == 0 and full:
                self.assertEqual(tier, best)
            self.assertEqual(verdict["tainted"], tier < 2)

        self.each_case(check)

    def full_machine(self):
        lines = {l["subject"]: l for l in kernwright("--json", "doctor", "--quick").json["lines"]}
        return lines["sandbox"]["state"] == "T3"

    def test_below_the_minimum_it_is_turned_away_with_a_remedy(self):
        def check(user, denied, facility, best):
            outcome = self.judge(denied, user)
            if best >= 2:
                self.expect(outcome, HOLDS)
                return
            self.assertEqual(outcome.code, BAD_INPUT, outcome.text)
            error = outcome.json["evaluations"][0]["error"]
            self.assertIn(f"sandbox T{best}", error["message"])
            self.assertIn("T2 is required", error["message"])
            self.assertIn(facility + ": ", error["remedy"])

        self.each_case(check)

    def test_the_taint_shows_everywhere(self):
        text = self.run_lacking("landlock", None, "evaluate", self.source, *SOFTMAX, "--allow-weak-sandbox")
        self.expect(text, HOLDS, "T1", "tainted", "--allow-weak-sandbox", "Landlock fails (this kernel offers no Landlock)", "seccomp works")
        self.expect(self.run_lacking("nothing", None, "export", "--trace-set", "--traces", "--out", self.dir / "home-None/out"), HOLDS)
        lines = [json.loads(l) for p in (self.dir / "home-None/out/sidecar").rglob("*.jsonl") for l in p.read_text().splitlines()]
        self.assertEqual([(l["verdict"]["tier"], l["verdict"]["tainted"]) for l in lines], [("T1", True)])
        self.assertIn("Landlock", [f["facility"] for f in lines[0]["verdict"]["facilities"] if not f["works"]])

    def test_inside_a_container(self):
        """Root without capabilities, namespaces, control groups: what an unprivileged container is."""
        if os.geteuid() != 0:
            self.skipTest("the container's root takes root")
        for denied, user in ((CONTAINER, None), (CONTAINER, NOBODY), (BARE, None)):
            with self.subTest(denied=denied, user=user):
                outcome = self.judge(denied, user, "--sanitize")
                self.expect(outcome, HOLDS)
                verdict = outcome.json["evaluations"][0]["probe"]["verdict"]
                self.assertEqual((verdict["tier"], verdict["tainted"]), ("T2", False))
                self.assertEqual(verdict["sanitized"][0]["outcome"], "pass", verdict["sanitized"])

    def test_attacks_find_nothing_more_in_a_container(self):
        if os.geteuid() != 0:
            self.skipTest("the container's root takes root")
        for denied in (CONTAINER, BARE):
            outcome = self.run_lacking(denied, None, "--json", "redteam", "--no-timing", "RH-63", "RH-64", "RH-41", "RH-32", "OK-01")
            self.expect(outcome, HOLDS)
            self.assertEqual(outcome.json["tier"], "T2")


if __name__ == "__main__":
    unittest.main()
