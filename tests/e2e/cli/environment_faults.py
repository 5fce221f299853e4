# SPDX-License-Identifier: Apache-2.0
"""What is around the judge goes wrong: disks, folders, a second process, a Python without torch."""
import contextlib
import fcntl
import stat
import time

from harness import *


@contextlib.contextmanager
def small_disk(folder, kib):
    """A file system of a few KiB."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)], capture_output=True, text=True)
    if mounted.returncode != 0:
        raise unittest.SkipTest("a small tmpfs cannot be mounted: " + mounted.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


class EnvironmentFaults(Case):
    def setUp(self):
        super().setUp()
        self.good = self.write("good.cpp", softmax())

    @unittest.skipIf(os.geteuid() != 0, "mounting a small disk takes root")
    def test_full_disk_under_the_archive(self):
        with small_disk(self.dir / "disk", 256) as disk:
            (disk / "ballast").write_bytes(b"\0" * (40 << 10))
            codes, last = [], None
            for i in range(12):
                self.good.write_text(softmax(head=f"// {i} " + "x" * 8192))
                last = kernwright("--state", disk / "state", "--json", "evaluate", self.good, *SOFTMAX)
                codes.append(last.code)
                if last.code != HOLDS:
                    break
            self.assertIn(OUR_SIDE, codes, "the disk was never full")
            error = last.json.get("error") or last.json["evaluations"][0]["error"]
            self.assertIn("full", error["message"] + error["remedy"])
            self.assertIn("free", error["remedy"])
            text = kernwright("--state", disk / "state", "evaluate", self.good, *SOFTMAX)
            self.expect(text, OUR_SIDE, "remedy: ", "free")
            # Nothing finished is lost, and it goes on once there is room.
            (disk / "ballast").unlink()
            subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True)
            kept = codes.count(HOLDS)
            if kept:
                report = self.run_expecting(HOLDS, "--state", disk / "state", "--json", "archive", "verify").json
                self.assertGreaterEqual(report["probes"], kept)
            self.run_expecting(HOLDS, "--state", disk / "state", "evaluate", self.good, *SOFTMAX)
            self.run_expecting(HOLDS, "--state", disk / "state", "archive", "verify", says=["intact"])

    @unittest.skipIf(os.geteuid() != 0, "mounting a small disk takes root")
    def test_full_disk_under_the_build_cache(self):
        with small_disk(self.dir / "disk", 16) as disk:
            self.run_expecting(HOLDS, "--cache", disk, "evaluate", self.good, *SOFTMAX,
                               says=["the build is not kept for next time", "No space left on device", "free some disk space"])

    def read_only(self, folder):
        """For root too, which file modes do not stop: a read-only bind mount."""
        if os.geteuid() == 0:
            done = subprocess.run(f"mount --bind '{folder}' '{folder}' && mount -o remount,bind,ro '{folder}'",
                                  shell=True, capture_output=True, text=True)
            if done.returncode != 0:
                self.skipTest("a folder cannot be made read-only: " + done.stderr.strip())
            self.addCleanup(subprocess.run, ["umount", "-l", str(folder)], check=False)
        else:
            folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
            self.addCleanup(folder.chmod, stat.S_IRWXU)

    def test_read_only_folder(self):
        (self.dir / "fixed").mkdir()
        self.read_only(self.dir / "fixed")
        for state in ("fixed", "fixed/below"):
            outcome = kernwright("--state", self.dir / state, "evaluate", self.good, *SOFTMAX)
            self.assertIn(outcome.code, (BAD_INPUT, OUR_SIDE))
            self.expect(outcome, outcome.code, "error: ", "remedy: ")
            self.assertRegex(outcome.text, "remedy: .*(writable|may be written)")
            error = kernwright("--state", self.dir / state, "--json", "evaluate", self.good, *SOFTMAX).json["error"]
            self.assertTrue(error["message"] and error["remedy"])

    def test_read_only_archive_can_be_read(self):
        state = self.dir / "state"
        self.run_expecting(HOLDS, "--state", state, "evaluate", self.good, *SOFTMAX)
        self.read_only(state)
        listed = self.run_expecting(HOLDS, "--state", state, "--json", "archive", "list").json
        self.assertEqual(len(listed["probes"]), 1)
        self.run_expecting(HOLDS, "--state", state, "archive", "verify", says=["intact"])
        self.run_expecting(HOLDS, "--state", state, "replay", listed["probes"][0]["id"], says=["no drift"])
        outcome = kernwright("--state", state, "evaluate", self.good, *SOFTMAX)
        self.assertIn(outcome.code, (BAD_INPUT, OUR_SIDE))
        self.expect(outcome, outcome.code, "remedy: ")

    def test_no_archive_yet(self):
        for command in (["archive", "list"], ["archive", "verify"], ["replay", "abc"], ["export", "abc", "-o", self.dir / "x"]):
            error = self.error_of("--state", self.dir / "none", *command)
            self.assertIn("there is no archive here", error["message"])
            self.assertIn("--state", error["remedy"])

    def test_damaged_archive(self):
        state = self.dir / "state"
        state.mkdir()
        (state / "archive.sqlite").write_bytes(b"this is no database" * 500)
        error = self.error_of("--state", state, "archive", "list", code=kernwright("--state", state, "archive", "list").code)
        self.assertTrue(error["remedy"])

    def test_processes_share_an_archive(self):
        state = self.dir / "state"
        running = []
        for i in range(3):
            source = self.write(f"k{i}.cpp", softmax(head=f"// {i}"))
            running.append(subprocess.Popen([BIN, "--state", state, "--json", "evaluate", source, *SOFTMAX], env=environment(),
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        ids = set()
        for process in running:
            out, err = process.communicate(timeout=55)
            self.assertEqual(process.returncode, HOLDS, out + err)
            ids.add(json.loads(out)["evaluations"][0]["probe"]["id"])
        listed = self.run_expecting(HOLDS, "--state", state, "--json", "archive", "list").json
        self.assertEqual({p["id"] for p in listed["probes"]}, ids)
        self.assertEqual(len(ids), 3)
        self.run_expecting(HOLDS, "--state", state, "archive", "verify", says=["intact: 3 probes"])

    def test_python_reference_without_its_module(self):
        self.run_expecting(HOLDS, "init", "op", "scale", "--reference", "python", "--dir", self.dir / "scale")
        reference = self.dir / "scale" / "reference.py"
        reference.write_text("import a_module_that_is_not_there\n" + reference.read_text())
        outcome = kernwright("--operators", self.dir / "scale", "evaluate", self.dir / "scale" / "baseline.cpp", "-d", "scale", "--gate", "smoke")
        self.assertIn(outcome.code, (BAD_INPUT, OUR_SIDE))
        self.expect(outcome, outcome.code, "a_module_that_is_not_there", "remedy: ")
        check = self.run_expecting(FAILS, "--json", "check", self.dir / "scale", "--run").json
        issue = next(i for i in check["issues"] if i["severity"] == "error")
        self.assertIn("a_module_that_is_not_there", issue["message"])
        self.assertTrue(issue["remedy"])

    def test_python_reference_that_raises(self):
        self.run_expecting(HOLDS, "init", "op", "scale", "--reference", "python", "--dir", self.dir / "scale")
        (self.dir / "scale" / "reference.py").write_text("def run(x, b, a):\n    return x[5000]\n")
        outcome = kernwright("--operators", self.dir / "scale", "evaluate", self.dir / "scale" / "baseline.cpp", "-d", "scale", "--gate", "smoke")
        self.assertIn(outcome.code, (BAD_INPUT, OUR_SIDE))
        self.expect(outcome, outcome.code, "IndexError", "remedy: ")


class Leases(Case):
    def test_waiting_for_another_timing_is_said_and_can_be_stopped(self):
        with open("/tmp/kernwright-timing.lock", "a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process, log = start("evaluate", self.write("good.cpp", softmax()), *SOFTMAX, "--time")
            self.addCleanup(process.kill)
            end = time.monotonic() + 50
            while "waiting: " not in pathlib.Path(log).read_text() and time.monotonic() < end:
                time.sleep(0.05)
            self.assertIn("only one may", pathlib.Path(log).read_text())
            self.assertEqual(stop(process, INT, 10), INTERRUPTED)


def zygotes(judge):
    """Living runners of a judge that fork arms; an arm has the same command line and another group."""
    found = []
    for pid in descendants(judge):
        try:
            if b"--zygote" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") and os.getpgid(pid) == pid:
                found.append(pid)
        except OSError:
            continue
    return found


class KilledRunner(Case):
    """The process that forks the arms dies at any moment, as under memory pressure."""

    def judge_while_killing(self, pause, most):
        process, log = start("evaluate", self.write("good.cpp", softmax()), "--no-archive", *SOFTMAX)
        killed = set()
        deadline = time.monotonic() + 50
        while process.poll() is None and len(killed) < most and time.monotonic() < deadline:
            for pid in set(zygotes(process.pid)) - killed:
                time.sleep(pause)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, KILL)
                killed.add(pid)
            time.sleep(0.001)
        try:
            code = process.wait(timeout=50)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"hangs after {len(killed)} killed runners")
        return code, " ".join(pathlib.Path(log).read_text().split())

    def test_once(self):
        for pause in (0, 0.005, 0.02, 0.05, 0.1, 0.2):
            with self.subTest(pause=pause):
                code, text = self.judge_while_killing(pause, most=1)
                self.assertEqual(code, HOLDS, text)

    def test_every_time(self):
        code, text = self.judge_while_killing(0, most=100)
        self.assertIn(code, (HOLDS, OUR_SIDE), text)  # the last one may have been too quick for us
        if code == OUR_SIDE:
            self.assertIn("remedy: ", text)


class WrongUsage(Case):
    def test_mistakes_name_the_way_out(self):
        good = self.write("good.cpp", softmax())
        for command, message, remedy in [
            (["evalute", good], "there is no command `evalute`", "did you mean `kernwright evaluate`?"),
            (["evaluate"], "paths is required", "--help"),
            (["evaluate", good, "--gate", "none"], "--gate", "--help"),
            (["evaluate", good, "--gaet", "gate"], "`kernwright evaluate` has no option --gaet", "did you mean --gate?"),
            ([], "`kernwright` needs a command", "optimize, evaluate"),
            (["archive"], "`kernwright archive` needs a command", "list, show"),
            (["evaluate", good, *SOFTMAX, "--threads", "-1"], "--threads", "--help"),
            (["evaluate", good, *SOFTMAX, "--least-window", "nan"], "--least-window", "--help"),
            (["evaluate", good, *SOFTMAX, "--timing-budget", "inf"], "longer than 30 days", "720h"),
            (["evaluate", good, *SOFTMAX, "--peers"], "nothing is timed", "--time"),
            (["--state", good, "evaluate", good, *SOFTMAX], "good.cpp", "a file, not a folder"),
            (["optimize", "softmax_f32", "--evaluations", "-1"], "--evaluations", "--help"),
            (["archive", "list", "--decision", "none"], "--decision", "--help"),
            (["archive", "export", ""], "name of the folder is empty", "name a folder"),
            (["export", "--trace-set", "ab", "-o", self.dir / "x"], "not `ab` alone", "leave out"),
            (["unpack", good, "-o", self.dir / "x"], "only a solution.json", "pack"),
            (["optimize"], "name one definition", "check --list"),
            (["optimize", "sofmax_f32"], "there is no definition `sofmax_f32`", "did you mean `softmax_f32`?"),
            (["optimize", "zzz"], "there is no definition `zzz`", "check --list"),
            (["optimize", "softmax_f32", "--budget", "5x"], "`5x` is not a duration", "90s"),
            (["optimize", "--resume", "9999"], "9999", "archive"),
            (["replay", "zzzz"], "", "list"),
            (["export", "-o", self.dir / "x"], "name a record", "archive list"),
            (["check", self.dir / "none"], "none", "name"),
            (["unpack", self.dir / "none.json", "-o", self.dir / "x"], "none.json", ""),
            (["init", "op", "9x"], "`9x` cannot name an operator", "letters"),
        ]:
            with self.subTest(command=command[:3]):
                kernwright("evaluate", good, *SOFTMAX)  # there is an archive
                error = self.error_of(*command)
                self.assertIn(message, error["message"] + error["where"])
                self.assertIn(remedy, error["remedy"])

    def test_files_that_cannot_be_judged(self):
        good = self.write("good.cpp", softmax())
        for command, message, remedy in [
            ([good], "does not say which definition", "name it with -d"),
            ([self.dir / "none.cpp", "-d", "softmax_f32"], "does not exist", "name a source file"),
            ([good, "-d", "softmax_f32", "--workload", "rows=5"], "no workload matches", "axis=value"),
            ([self.write("bad.json", "{")], "bad.json:1", ""),
        ]:
            with self.subTest(command=command):
                self.run_expecting(BAD_INPUT, "evaluate", *command, says=[message, remedy])
                error = self.run_expecting(BAD_INPUT, "--json", "evaluate", *command).json["evaluations"][0]["error"]
                self.assertTrue(error["message"] and error["remedy"])

    def test_version_and_help(self):
        self.run_expecting(HOLDS, "--version", says=["kernwright "])
        for command in ("optimize", "evaluate", "check", "replay", "export", "archive", "init", "pack", "unpack", "redteam", "doctor"):
            self.run_expecting(HOLDS, command, "--help", says=["--"])


if __name__ == "__main__":
    unittest.main()
