# SPDX-License-Identifier: Apache-2.0
"""`check`, trace sets, packing, and scaffolding an operator."""
from harness import *

DEFINITION = {
    "name": "thing", "op_type": "elementwise",
    "axes": {"rows": {"type": "var"}, "n": {"type": "const", "value": 4}},
    "inputs": {"x": {"shape": ["rows", "n"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "n"], "dtype": "float32"}},
    "reference": "def run(x):\n    return x\n",
}
UNKNOWN_AXIS = """{"name": "thing", "op_type": "elementwise",
 "axes": {"rows": {"type": "var"}, "n": {"type": "const", "value": 4}},
 "inputs":  {"x": {"shape": ["rowz", "n"], "dtype": "float32"}},
 "outputs": {"y": {"shape": ["rows", "n"], "dtype": "float32"}},
 "reference": "def run(x):\\n    return x\\n"}
"""


class Checking(Case):
    def issues(self, code, path, *more):
        """The issues as JSON; the text form must say the same."""
        report = self.run_expecting(code, "--json", "check", path, *more).json
        text = self.run_expecting(code, "check", path, *more)
        for issue in report["issues"]:
            # A terminal gets control characters spelled out.
            spelled = "".join(c if c >= " " else f"\\u{{{ord(c):x}}}" for c in " ".join(issue["message"].split()))
            self.expect(text, code, issue["where"], spelled)
            self.assertTrue(issue["remedy"], issue)
        return report["issues"]

    def test_shipped_operators_are_clean(self):
        report = self.run_expecting(HOLDS, "--json", "check").json
        self.assertEqual(report["issues"], [])
        self.assertIn("softmax_f32", report["definitions"])
        self.assertGreaterEqual(len(report["definitions"]), 15)
        listed = self.run_expecting(HOLDS, "check", "--list").out.split()
        self.assertEqual(listed, report["definitions"])

    def test_unknown_axis(self):
        path = self.write("thing.definition.json", UNKNOWN_AXIS)
        (issue,) = self.issues(FAILS, path)
        self.assertEqual(issue["severity"], "error")
        self.assertTrue(issue["where"].endswith("thing.definition.json:3:30"), issue["where"])
        self.assertIn("axis `rowz`, which is not declared", issue["message"])
        self.assertEqual(issue["remedy"], "did you mean `rows`?")
        # And where somebody wants to use it.
        outcome = kernwright("optimize", path)
        self.expect(outcome, BAD_INPUT, "thing.definition.json:3:30", "remedy: did you mean `rows`?")

    def test_broken_definitions(self):
        def change(**more):
            return json.dumps({**DEFINITION, **more})
        for name, text, says in [
            ("syntax", '{"name": ', "ends where a value was expected"),
            ("twice", '{"name": "a", "name": "b"}', "twice"),
            ("dtype", change(outputs={"y": {"shape": ["rows"], "dtype": "float31"}}), "float31"),
            ("no_outputs", change(outputs={}), "output"),
            ("no_run", change(reference="def walk(x):\n    return x\n"), "run"),
            ("axis_type", change(axes={"rows": {"type": "variable"}, "n": {"type": "const", "value": 4}}), "variable"),
            ("value", change(axes={"rows": {"type": "var"}, "n": {"type": "const", "value": -4}}), "axis `n` is negative"),
            ("deep", "[" * 1000, "deep"),
            ("binary", "\x01\x02\x03", ""),
            ("empty", "", ""),
            ("lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n", "git-LFS"),
        ]:
            with self.subTest(name):
                path = self.write(f"{name}/thing.definition.json", text)
                issues = [i for i in self.issues(FAILS, path) if i["severity"] == "error"]
                self.assertTrue(any(says.lower() in (i["message"] + i["remedy"]).lower() for i in issues), issues)
                self.assertTrue(all("thing.definition.json" in i["where"] for i in issues), issues)

    def test_sizes_beyond_all_memory(self):
        self.run_expecting(HOLDS, "init", "op", "scale", "--dir", self.dir / "scale")
        workloads = self.dir / "scale" / "scale.workloads.jsonl"
        text = workloads.read_text()
        for size in (900_000_000, 2 ** 62, 2 ** 63 - 1):
            with self.subTest(size=size):
                workloads.write_text(text.replace('"rows": 64', f'"rows": {size}'))
                self.run_expecting(BAD_INPUT, "--operators", self.dir / "scale", "evaluate", self.dir / "scale" / "baseline.cpp", "-d", "scale",
                                   "--gate", "smoke", says=["would have more than", "remedy: "])

    def test_no_two_workloads_of_one_name_are_judged(self):
        self.run_expecting(HOLDS, "init", "op", "scale", "--dir", self.dir / "scale")
        workloads = self.dir / "scale" / "scale.workloads.jsonl"
        workloads.write_text(workloads.read_text() + workloads.read_text())
        self.run_expecting(BAD_INPUT, "--operators", self.dir / "scale", "evaluate", self.dir / "scale" / "baseline.cpp", "-d", "scale",
                           "--gate", "smoke", says=["workloads.jsonl:3", "is taken at", "remedy: give each workload its own"])

    def test_unknown_key_is_a_warning(self):
        path = self.write("thing.definition.json", json.dumps({**DEFINITION, "descripton": "typo"}))
        warnings = self.issues(HOLDS, path)
        self.assertEqual([w["severity"] for w in warnings], ["warning"])
        self.assertIn("descripton", warnings[0]["message"])

    def test_broken_workloads_solutions_and_traces(self):
        self.run_expecting(HOLDS, "init", "op", "scale", "--dir", self.dir / "scale")
        workloads = self.dir / "scale" / "scale.workloads.jsonl"
        first, second = workloads.read_text().splitlines()
        for name, text, says in [
            ("cut", first + "\n" + second[:-9], ":2"),
            ("axis", first.replace('"rows": 1', '"rowz": 1'), "rowz"),
            ("negative", first.replace('"rows": 1', '"rows": -1'), "axis `rows` must be an integer, 0 or more"),
            ("input", first.replace('"x": {', '"q": {'), "`q`"),
            ("tensor", first.replace('{"type": "random"}', '{"type": "safetensors", "path": "none.safetensors", "tensor_key": "x"}', 1), "none.safetensors"),
            ("double", first + "\n" + first, "uuid"),
        ]:
            with self.subTest(name):
                workloads.write_text(text + "\n")
                issues = self.issues(FAILS, self.dir / "scale")
                self.assertTrue(any(says in i["where"] + i["message"] for i in issues if i["severity"] == "error"), issues)
        workloads.write_text(first + "\n" + second + "\n")
        self.issues(HOLDS, self.dir / "scale")

        solution = self.dir / "scale" / "mine.solution.json"
        self.run_expecting(HOLDS, "pack", self.dir / "scale" / "baseline.cpp", "-o", solution, "-d", "scale", "--entry", "baseline", "--author", "me")
        self.assertEqual(self.run_expecting(HOLDS, "--json", "check", solution).json["solutions"], 1)
        good = json.loads(solution.read_text())
        for name, change, says in [
            ("entry", {"spec": {**good["spec"], "entry_point": "none.cpp::baseline"}}, "none.cpp"),
            ("outside", {"sources": [{"path": "../../evil.cpp", "content": "int a;"}]}, "../../evil.cpp"),
            ("absolute", {"sources": [{"path": "/etc/evil.cpp", "content": "int a;"}]}, "/etc/evil.cpp"),
            ("no_sources", {"sources": []}, "source"),
        ]:
            with self.subTest(name):
                solution.write_text(json.dumps({**good, **change}))
                issues = self.issues(FAILS, solution)
                self.assertTrue(any(says in i["message"] for i in issues), issues)

    def test_nothing_to_check(self):
        (self.dir / "empty").mkdir()
        self.assertIn("nothing to read", self.error_of("check", self.dir / "empty")["message"])
        self.error_of("check", self.dir / "none")
        self.error_of("check", self.write("kernel.cpp", softmax()))


class TraceSets(Case):
    def test_round_trip(self):
        first, second = self.dir / "first", self.dir / "second"
        good = self.write("good.cpp", softmax())
        self.run_expecting(HOLDS, "--state", self.dir / "state", "evaluate", good, *SOFTMAX)
        wrong = self.write("other/good.cpp", softmax(after="  y[-1] *= 1.5f;\n"))  # another solution of the same name
        self.run_expecting(FAILS, "--state", self.dir / "state", "evaluate", wrong, *SOFTMAX)
        files = self.run_expecting(HOLDS, "--state", self.dir / "state", "--json", "export", "--trace-set", "--traces", "-o", first).json["files"]
        self.assertTrue(all(pathlib.Path(f).is_file() for f in files))

        report = self.run_expecting(HOLDS, "--json", "check", first).json
        self.assertEqual(report["issues"], [])
        shipped = self.run_expecting(HOLDS, "--json", "check").json
        self.assertEqual(sorted(report["definitions"]), sorted(shipped["definitions"]))
        self.assertEqual(report["workloads"], shipped["workloads"])
        # Correct but untimed has no word in the format; what was wrong has a trace, under its own name.
        traces = [json.loads(line) for f in first.glob("traces/**/*.jsonl") for line in f.read_text().splitlines()]
        self.assertEqual(report["traces"], len(traces))
        self.assertEqual({t["evaluation"]["status"] for t in traces}, {"INCORRECT_NUMERICAL"})
        (name,) = {t["solution"] for t in traces}
        solution = json.loads(next(p for p in first.glob("solutions/**/*.json") if p.stem == name).read_text())
        self.assertIn("1.5f", solution["sources"][0]["content"])
        sidecar = [json.loads(line) for f in first.glob("sidecar/**/*.jsonl") for line in f.read_text().splitlines()]
        self.assertEqual([p["verdict"]["word"] for p in sidecar], ["CORRECT", "REJECTED"])

        # A set is an operator folder like any other: judge with it, write it again, nothing changes.
        self.run_expecting(HOLDS, "--operators", first, "evaluate", good, *SOFTMAX, says=["CORRECT"])
        self.run_expecting(HOLDS, "--operators", first, "export", "--trace-set", "-o", second)
        for kind in ("definitions", "workloads"):
            for path in first.glob(f"{kind}/**/*.json*"):
                self.assertEqual(path.read_text(), (second / path.relative_to(first)).read_text(), path)

    def test_no_overwriting(self):
        self.write("set/mine", "")
        self.assertIn("not empty", self.error_of("export", "--trace-set", "-o", self.dir / "set")["message"])


class Packing(Case):
    SOURCES = {"kernel.cpp": '#include "deep/er/row.h"\n#include <cstdint>\n'
                             'extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {\n'
                             "  for (std::int64_t r = 0; r < rows; ++r)\n    row(x + r * n, y + r * n, n);\n  return 0;\n}\n",
               "deep/er/row.h": "#include <cmath>\n#include <cstdint>\n" + """
inline void row(const float* x, float* y, std::int64_t n) {
  float top = x[0], total = 0;
  for (std::int64_t i = 1; i < n; ++i)
    top = x[i] > top ? x[i] : top;
  for (std::int64_t i = 0; i < n; ++i)
    total += y[i] = expf(x[i] - top);
  for (std::int64_t i = 0; i < n; ++i)
    y[i] /= total;
}
"""}
    CONFIG = """[solution]
name = "nested"
definition = "softmax_f32"
author = "e2e"

[build]
language = "cpp"
entry_point = "kernel.cpp::kernel"
"""

    def packed(self):
        for name, text in self.SOURCES.items():
            self.write("nested/solution/" + name, text)
        self.write("nested/config.toml", self.CONFIG)
        self.run_expecting(HOLDS, "pack", self.dir / "nested", "-o", self.dir / "nested.json", says=["2 source file(s)"])
        return self.dir / "nested.json"

    def test_round_trip_of_nested_folders(self):
        packed = self.packed()
        sources = {s["path"]: s["content"] for s in json.loads(packed.read_text())["sources"]}
        self.assertEqual(sources, self.SOURCES)
        self.run_expecting(HOLDS, "check", packed)
        self.run_expecting(HOLDS, "unpack", packed, "-o", self.dir / "out")
        for name, text in self.SOURCES.items():
            (found,) = (self.dir / "out").glob("**/" + name)
            self.assertEqual(found.read_text(), text)
        again = self.run_expecting(HOLDS, "--json", "pack", self.dir / "out", "-o", self.dir / "again.json").json
        first = self.run_expecting(HOLDS, "--json", "pack", self.dir / "nested", "-o", self.dir / "nested.json").json
        self.assertEqual(again["sha1"], first["sha1"])
        # The folder and the file are the same solution to the judge.
        for path in (packed, self.dir / "nested"):
            self.run_expecting(HOLDS, "evaluate", path, "--gate", "smoke", "--workload", "rows=128", says=["nested", "CORRECT"])

    def test_paths_that_leave_the_folder_are_refused(self):
        good = json.loads(self.packed().read_text())
        for evil in ("../evil.cpp", "/tmp/kernwright-evil.cpp", "a/../../evil.cpp", ""):
            with self.subTest(evil):
                path = self.write("evil.json", json.dumps({**good, "sources": [*good["sources"], {"path": evil, "content": "int evil;"}]}))
                error = self.error_of("unpack", path, "-o", self.dir / "box" / "in")
                self.assertIn("path", error["message"] + error["remedy"])
                self.assertFalse((self.dir / "box" / "in").exists(), "something was written")
                self.assertFalse((self.dir / "box" / "evil.cpp").exists() or os.path.exists("/tmp/kernwright-evil.cpp"))
                self.assertEqual(kernwright("evaluate", path, "--gate", "smoke", "--workload", "rows=128").code, BAD_INPUT)

    def test_odd_spellings_stay_inside_and_are_no_candidates(self):
        """The format allows them, so they unpack, inside; the builder wants one spelling per file."""
        good = json.loads(self.packed().read_text())
        for number, (odd, lands) in enumerate((("a//b.cpp", "a/b.cpp"), ("./evil.cpp", "evil.cpp"))):
            with self.subTest(odd):
                path = self.write("odd.json", json.dumps({**good, "sources": [*good["sources"], {"path": odd, "content": "int odd;"}]}))
                self.run_expecting(HOLDS, "unpack", path, "-o", self.dir / f"box{number}")
                self.assertEqual((self.dir / f"box{number}" / lands).read_text(), "int odd;")
                self.run_expecting(FAILS, "evaluate", path, "--gate", "smoke", "--workload", "rows=128", says=["no usable source path"])

    def test_a_link_does_not_lead_out(self):
        packed = self.packed()
        (self.dir / "outside").mkdir()
        (self.dir / "out").mkdir()
        for link in ("deep", "solution"):
            (self.dir / "out" / link).symlink_to(self.dir / "outside")
        kernwright("unpack", packed, "-o", self.dir / "out")
        self.assertEqual(list((self.dir / "outside").rglob("*")), [])


class OwnOperator(Case):
    def judged(self, reference):
        folder = self.dir / "scale"
        files = self.run_expecting(HOLDS, "--json", "init", "op", "scale", "--reference", reference, "--dir", folder).json["files"]
        self.assertEqual(sorted(files), sorted(str(p) for p in folder.rglob("*") if p.is_file()))
        self.assertEqual(self.run_expecting(HOLDS, "--json", "check", folder).json["issues"], [])
        self.assertEqual(self.run_expecting(HOLDS, "--json", "check", folder, "--run").json["issues"], [])
        judge = ["--operators", folder, "evaluate", folder / "baseline.cpp", "-d", "scale", "--gate", "smoke"]
        self.run_expecting(HOLDS, *judge, says=["CORRECT"])
        # A definition file is as good as a name.
        self.run_expecting(BAD_INPUT, "optimize", folder / "scale.definition.json", says=["no kernel templates", "kernwright evaluate"])
        baseline = folder / "baseline.cpp"
        baseline.write_text(baseline.read_text().replace("+ b[i]", "- b[i]"))
        issue = self.run_expecting(FAILS, "--json", "check", folder, "--run").json["issues"][0]
        self.assertIn("baseline and oracle disagree", issue["message"])
        self.run_expecting(FAILS, *judge, says=["REJECT_WRONG"])

    def test_with_a_cpp_oracle(self):
        self.judged("c++")

    def test_with_a_python_reference(self):
        self.judged("python")

    def test_nothing_is_overwritten(self):
        self.write("scale/mine", "")
        error = self.error_of("init", "op", "scale", "--dir", self.dir / "scale")
        self.assertIn("nothing was changed", error["remedy"])
        self.assertEqual(len(list((self.dir / "scale").iterdir())), 1)


if __name__ == "__main__":
    unittest.main()
