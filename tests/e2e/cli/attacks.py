# SPDX-License-Identifier: Apache-2.0
"""Attacks on this judge that are no kernels: files, names, archives, words. KW-50 and up of redteam/README.md."""
import re
import sqlite3

from harness import *

ESCAPE = "\x1b"


def solution(sources, name="candidate", **more):
    return {"name": name, "definition": "softmax_f32", "author": "e2e", "description": "", "sources":
            [{"path": p, "content": c} for p, c in sources.items()],
            "spec": {"language": "cpp", "target_hardware": ["cpu"], "entry_point": "kernel.cpp::kernel", "dependencies": [],
                     "destination_passing_style": True, "binding": "kernwright"}, **more}


class Sources(Case):
    def packed(self, sources, file="candidate.json", **more):
        return self.write(file, json.dumps(solution(sources, **more)))

    def test_a_file_of_options_is_no_source(self):
        """KW-50: `@opts.cpp` on a compiler's command line means the options in opts.cpp."""
        path = self.packed({"kernel.cpp": softmax(after="\n#ifdef INJECTED\n  y[-1] = 7;\n#endif\n"), "@opts.cpp": "// none",
                            "opts.cpp": "#define X -DINJECTED\n", "#define": "// none", "X": "// none"})
        self.run_expecting(FAILS, "evaluate", path, *SOFTMAX, says=["@opts.cpp", "no usable source path"])

    def test_options_as_names(self):
        """KW-51: file names that a compiler or linker would take for something else."""
        for name in ("-fplugin=evil.cpp", "-.cpp", "a b.cpp", "a\n-DINJECTED.cpp", "a\"b.cpp", "a'b.cpp", "a\\b.cpp", f"{ESCAPE}[2J.cpp"):
            with self.subTest(name):
                outcome = kernwright("evaluate", self.packed({"kernel.cpp": softmax(), name: "int a;"}), *SOFTMAX)
                self.assertIn(outcome.code, (FAILS, BAD_INPUT), outcome.text)
                self.assertNotIn(ESCAPE, outcome.out + outcome.err)

    def test_shadowed_headers(self):
        """KW-52: headers of its own under the names of ours. They are the candidate's business, and in its cache key."""
        honest = self.packed({"kernel.cpp": '#include "kernwright.h"\n' + softmax()})
        self.run_expecting(HOLDS, "evaluate", honest, *SOFTMAX, says=["CORRECT"])
        fake = "#pragma once\n#include <cmath>\nextern \"C\" int kw_threads(void);\n#define expf(v) 1.0f\n"
        shadowed = self.packed({"kernel.cpp": '#include "kernwright.h"\n' + softmax(), "kernwright.h": fake, "cmath": '#include_next <cmath>\n'},  # found before the library's
                               file="shadowed.json")
        self.run_expecting(FAILS, "evaluate", shadowed, *SOFTMAX, says=["REJECT_WRONG"])
        # And nothing of that reaches the next one.
        self.run_expecting(HOLDS, "evaluate", honest, *SOFTMAX, says=["CORRECT"])

    def test_sources_that_are_no_files(self):
        """KW-53: a FIFO, a device, a socket of endless bytes, a hole of 100 GB, links."""
        fifo, hole = self.dir / "fifo.cpp", self.dir / "hole.cpp"
        os.mkfifo(fifo)
        with open(hole, "wb") as file:
            file.truncate(100 << 30)
        (self.dir / "zero.cpp").symlink_to("/dev/zero")
        (self.dir / "loop.cpp").symlink_to("loop.cpp")
        for name in ("fifo.cpp", "hole.cpp", "zero.cpp", "loop.cpp"):
            with self.subTest(name):
                self.run_expecting(BAD_INPUT, "evaluate", self.dir / name, *SOFTMAX, "--entry", "kernel", says=[name, "remedy: "])
        folder = self.dir / "folder"
        folder.mkdir()
        (folder / "kernel.cpp").symlink_to("/etc/passwd")
        (folder / "up").symlink_to("/")
        os.mkfifo(folder / "pipe.h")
        self.run_expecting(BAD_INPUT, "pack", folder, "-d", "softmax_f32", "-o", self.dir / "none.json", says=["no source file"])
        (folder / "real.cpp").write_text(softmax())
        packed = self.run_expecting(HOLDS, "--json", "pack", folder, "-d", "softmax_f32", "-o", self.dir / "packed.json").json
        self.assertNotIn("root:", (self.dir / "packed.json").read_text(), packed)

    def test_the_words_of_a_full_disk(self):
        """KW-54: a build failure that talks like the machine's."""
        path = self.write("full.cpp", "#error No space left on device\n#error Cannot allocate memory\n" + softmax())
        outcome = kernwright("evaluate", path, *SOFTMAX)
        self.expect(outcome, FAILS, "REJECTED")

    def test_diagnostics_stay_words(self):
        """KW-55: escapes, forged JSON and endless text from the compiler and the assembler, in every report."""
        # gcc hands control characters on; the assembler prints whatever .error says, lines and all.
        forged = r'asm(".error \"x\\n[{\\\"kind\\\": \\\"note\\\", \\\"message\\\": \\\"459 trials clean\\\"}]\\n\\033[2J</pre><script>alert(1)</script>\"");'
        path = self.write("words.cpp", f"#error {ESCAPE}[2J<script>alert(1)</script>\n" * 300 + softmax())
        other = self.write("asm.cpp", forged + "\n" + softmax())
        for source in (path, other):
            with self.subTest(source.name):
                out = kernwright("evaluate", source, *SOFTMAX, "--junit", self.dir / "j.xml", "--sarif", self.dir / "s.json")
                self.expect(out, FAILS, "REJECT_BUILD")
                self.assertLess(len(out.out), 20000)
                self.assertNotIn(ESCAPE, out.out + out.err)
                self.assertNotIn(ESCAPE, (self.dir / "j.xml").read_text())
                self.assertNotIn("<script>", (self.dir / "j.xml").read_text())
                results = json.loads((self.dir / "s.json").read_text())["runs"][0]["results"]
                self.assertTrue(results and all(r["ruleId"] == "REJECT_BUILD" for r in results))
                verdict = kernwright("--json", "evaluate", source, *SOFTMAX, "--no-archive").json["evaluations"][0]["probe"]["verdict"]
                self.assertEqual((verdict["finding"], verdict["accepted"]), ("REJECT_BUILD", False))


class Names(Case):
    EVIL = f"{ESCAPE}[2J{ESCAPE}]0;owned\x07</title><script>alert(1)</script>' or 1=1;--"

    def test_terminal_and_archive(self):
        """KW-56: a name, an author and a source full of terminal escapes, listed and shown later."""
        state = ["--state", self.dir / "state"]
        path = self.write("evil.json", json.dumps(solution({"kernel.cpp": softmax() + f"// {ESCAPE}[2J ACCEPTED\n"}, name=self.EVIL, author=self.EVIL)))
        judged = self.run_expecting(HOLDS, *state, "--json", "evaluate", path, *SOFTMAX).json
        id_ = judged["evaluations"][0]["probe"]["id"]
        for command in (["evaluate", path, *SOFTMAX], ["archive", "list"], ["archive", "show", id_], ["replay", id_]):
            with self.subTest(command[0]):
                out = kernwright(*state, *command)
                self.expect(out, HOLDS, "\\u{1b}[2J")
                self.assertNotIn(ESCAPE, out.out + out.err)
                self.assertNotIn("\x07", out.out + out.err)
        # The true name is in the data.
        self.assertEqual(self.run_expecting(HOLDS, *state, "--json", "archive", "show", id_).json["solution"]["name"], self.EVIL)

    def test_names_as_paths(self):
        """KW-57: names that lead out of the folder they become files of."""
        state = ["--state", self.dir / "state"]
        outside = self.dir / "outside"
        for name in (f"../../../..{outside}/evil", "/etc/evil", "..", ".", ".hidden", "a/b", "a\\b", self.EVIL, "x" * 400):
            path = self.write("evil.json", json.dumps(solution({"kernel.cpp": softmax(head=f"// {hash(name)}", after="  y[-1] = 7;\n")}, name=name)))
            outcome = kernwright(*state, "evaluate", path, *SOFTMAX)
            self.assertIn(outcome.code, (FAILS, BAD_INPUT), outcome.text)
        inside = (self.dir / "state", self.dir / "set")
        before = sorted(p for p in self.dir.rglob("*"))
        files = self.run_expecting(HOLDS, *state, "--json", "export", "--trace-set", "--traces", "-o", self.dir / "set").json["files"]
        self.assertTrue(all(pathlib.Path(f).resolve().is_relative_to(self.dir / "set") for f in files))
        after = sorted(p for p in self.dir.rglob("*") if not any(p.is_relative_to(i) for i in inside))
        self.assertEqual([p for p in after if p not in before], [])
        self.run_expecting(HOLDS, "check", self.dir / "set")

    def test_names_as_code(self):
        """KW-58: names of a definition become C++ and Python of a shipped library."""
        operators = self.dir / "ops"
        state = ["--state", self.dir / "state"]
        self.run_expecting(HOLDS, "init", "op", "scale", "--dir", operators)
        file = operators / "scale.definition.json"
        text = file.read_text()
        harmless = json.loads(text)
        harmless["description"] = "*/ #error out /*"
        file.write_text(json.dumps(harmless))
        judged = self.run_expecting(HOLDS, *state, "--operators", operators, "--json", "evaluate", operators / "baseline.cpp", "-d", "scale",
                                    "--gate", "smoke").json
        id_ = judged["evaluations"][0]["probe"]["id"]
        self.run_expecting(HOLDS, *state, "--operators", operators, "export", id_, "-o", self.dir / "shipped")
        header = (self.dir / "shipped" / "scale.h").read_text()
        self.assertNotIn("#error", re.sub(r"/\*.*?\*/", "", header, flags=re.S))
        for number, name in enumerate(('x); __import__("os").system("touch owned"', "x\n  evil", "x*/", "é")):
            with self.subTest(name):
                evil = json.loads(text)
                evil["inputs"] = {name if k == "x" else k: v for k, v in evil["inputs"].items()}
                file.write_text(json.dumps(evil))
                outcome = kernwright(*state, "--operators", operators, "export", id_, "-o", self.dir / f"shipped{number}")
                self.assertNotEqual(outcome.code, HOLDS, outcome.text)
                self.assertFalse((self.dir / f"shipped{number}").exists())

    def test_axis_names_as_code(self):
        """KW-59: axes become macros of the command line and parameters of generated source."""
        operators = self.dir / "ops"
        self.run_expecting(HOLDS, "init", "op", "scale", "--dir", operators)
        for path in operators.rglob("*"):
            if path.is_file():
                path.write_text(path.read_text().replace('"n"', '"n; evil(); int m"'))
        outcome = kernwright("--operators", operators, "evaluate", operators / "baseline.cpp", "-d", "scale", "--gate", "smoke")
        self.expect(outcome, BAD_INPUT, "remedy: ")


class Archives(Case):
    def setUp(self):
        super().setUp()
        self.state = ["--state", self.dir / "state"]
        good = self.write("good.cpp", softmax())
        wrong = self.write("wrong.cpp", softmax(after="  y[-1] *= 1.5f;\n"))
        self.run_expecting(HOLDS, *self.state, "evaluate", good, *SOFTMAX)
        self.id = self.run_expecting(FAILS, *self.state, "--json", "evaluate", wrong, *SOFTMAX).json["evaluations"][0]["probe"]["id"]
        self.wrong = wrong

    def test_ids_are_no_queries_and_no_paths(self):
        """KW-60: ids with the grammar of SQL, of patterns and of paths."""
        for id_ in ("' OR '1'='1", "x'; DROP TABLE probes;--", "%", "*", "_" * 8, "../../etc/passwd", "[0-9a-f]*", "\x1b[2J", "a" * 100000):
            with self.subTest(id_[:20]):
                for command in (["archive", "show", id_], ["replay", id_], ["export", id_, "-o", self.dir / "out"]):
                    outcome = kernwright(*self.state, *command)
                    self.assertIn(outcome.code, (BAD_INPUT, FAILS), outcome.text[:300])
                    self.assertNotIn(ESCAPE, outcome.out + outcome.err)
        self.run_expecting(HOLDS, *self.state, "archive", "verify", says=["intact"])
        self.assertFalse((self.dir / "out").exists())

    def edited(self, change):
        copy = self.dir / f"copy{len(list(self.dir.iterdir()))}"
        self.run_expecting(HOLDS, *self.state, "archive", "export", copy)
        with sqlite3.connect(copy / "archive.sqlite") as db:
            change(db)
        db.close()
        return ["--state", copy]

    def test_edited_verdicts(self):
        """KW-61: a verdict changed where it is stored, with and without the columns beside it."""
        def whole(db):
            db.execute("update probes set json = replace(replace(json, 'REJECT_WRONG', 'NONE'), 'REJECTED', 'CORRECT') where id = ?", (self.id,))

        def order(db):
            db.execute("update probes set json = (select json from probes where id <> ?) where id = ?", (self.id, self.id))

        for change in (whole, order):
            state = self.edited(change)
            self.run_expecting(FAILS, *state, "archive", "verify", says=["BROKEN"])
            # A damaged archive is not carried on as a sound one.
            self.assertNotEqual(kernwright(*state, "archive", "export", self.dir / f"on{id(change)}").code, HOLDS)

    def test_stored_paths_and_blobs_stay_inside(self):
        """KW-62: sources and blobs with paths that lead out, put into the archive by hand."""
        def paths(db):
            db.execute("update probes set json = replace(json, 'wrong.cpp', '../../../owned.cpp')")
            db.execute("update probes set json = replace(json, 'good.cpp', '../../../owned.cpp')")

        state = self.edited(paths)
        for command in (["archive", "show", self.id], ["replay", self.id], ["export", self.id, "-o", self.dir / "deep" / "er" / "out"],
                        ["export", "--trace-set", "--traces", "-o", self.dir / "deep" / "er" / "set"]):
            outcome = kernwright(*state, *command)
            self.assertIn(outcome.code, (HOLDS, FAILS, BAD_INPUT, OUR_SIDE), outcome.text)
            self.assertEqual(list(self.dir.rglob("owned.cpp")), [], command)

    def test_a_forged_side_car_is_no_verdict(self):
        """KW-63: an exported set, its side-car edited to say CORRECT, used as operators: the kernel is judged all the same."""
        first = self.dir / "set"
        self.run_expecting(HOLDS, *self.state, "export", "--trace-set", "--traces", "-o", first)
        for path in first.glob("sidecar/**/*.jsonl"):
            path.write_text(path.read_text().replace("REJECT_WRONG", "NONE").replace("REJECTED", "ACCEPTED").replace('"fail"', '"pass"'))
        own = ["--state", self.dir / "fresh"]
        self.run_expecting(FAILS, *own, "--operators", first, "evaluate", self.wrong, *SOFTMAX, says=["REJECT_WRONG"])
        self.assertEqual(len(self.run_expecting(HOLDS, *own, "--json", "archive", "list").json["probes"]), 1, "a side-car was taken in")
        # A trace that claims a pass without the figures of one is no trace.
        for path in first.glob("traces/**/*.jsonl"):
            path.write_text(path.read_text().replace("INCORRECT_NUMERICAL", "PASSED"))
        self.run_expecting(FAILS, "check", first, says=["PASSED needs `performance`"])

    def test_a_wrong_kernel_stays_wrong(self):
        """KW-64: asking again under other names until it passes: the same sources are known."""
        for name in ("again.cpp", "renamed.cpp"):
            text = self.write(name, self.wrong.read_text())
            self.run_expecting(FAILS, *self.state, "evaluate", text, *SOFTMAX, says=["REJECT_WRONG"])


class Cache(Case):
    def test_objects_in_the_cache_are_hashed(self):
        """KW-65: another kernel's object put in the place of a wrong one's."""
        cache = ["--cache", self.dir / "cache", "--no-archive"]
        base = [*cache[:2], "evaluate"]
        good, wrong = self.write("good.cpp", softmax()), self.write("wrong.cpp", softmax(after="  y[-1] *= 1.5f;\n"))
        self.run_expecting(HOLDS, *base, good, *SOFTMAX, "--no-archive")
        objects = {p for p in (self.dir / "cache").glob("build/objects/*/*/*.so")}
        self.run_expecting(FAILS, *base, wrong, *SOFTMAX, "--no-archive")
        (fresh,) = [p for p in (self.dir / "cache").glob("build/objects/*/*/*.so") if p not in objects]
        for donor in objects:
            fresh.chmod(0o644)
            fresh.write_bytes(donor.read_bytes())
            self.run_expecting(FAILS, *base, wrong, *SOFTMAX, "--no-archive", says=["REJECT_WRONG"])
            break


if __name__ == "__main__":
    unittest.main()
