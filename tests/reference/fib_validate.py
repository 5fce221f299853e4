#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads a trace set with the data classes of the real flashinfer-bench package and applies the rules
that its documentation states about references between files.

    python3 -m venv v && v/bin/pip install --no-deps flashinfer-bench && v/bin/pip install pydantic
    v/bin/python fib_validate.py TRACE_SET

`import flashinfer_bench.data` runs the package's __init__, which imports its benchmark runners and with
them torch, safetensors, filelock, tqdm, docstring-parser and apache-tvm-ffi. With those installed (any
CPU build of torch will do, for instance Debian's through a .pth file) version 0.1.2 imports without a GPU
and without flashinfer, and TraceSet.from_path is run. Where the import fails, the reason is printed and
the data modules (definition, workload, solution, trace) are imported as they are, without running that
__init__: they need pydantic only. The PyPI package has no `validate` command (its command line offers
`run` and `report`), so the documented rules about references between files are checked here.
Exit status: 0 valid, 1 problems found, 2 package not usable.
"""
import importlib
import importlib.machinery
import importlib.util
import pathlib
import sys
import traceback
import types


def whole_package():
    """The package as its users import it, or the reason why that fails."""
    try:
        return importlib.import_module("flashinfer_bench.data"), ""
    except Exception as error:  # any failure of a third-party import is an answer here
        steps = [f for f in traceback.extract_tb(error.__traceback__) if "flashinfer" in f.filename]
        chain = " -> ".join(pathlib.Path(f.filename).name + f":{f.lineno}" for f in steps)
        return None, f"{type(error).__name__}: {error}\n  import chain: {chain}"


def data_modules():
    """definition, workload, solution and trace alone. The two parents become plain packages with the
    installed __path__, so that no __init__ runs and every class comes from the installed files."""
    for name in [m for m in sys.modules if m.split(".")[0] == "flashinfer_bench"]:
        del sys.modules[name]
    # find_spec of the top-level name locates the package without running it
    spec = importlib.machinery.PathFinder.find_spec("flashinfer_bench")
    if spec is None or not spec.submodule_search_locations:
        return None
    root = pathlib.Path(spec.submodule_search_locations[0])
    for name, path in (("flashinfer_bench", root), ("flashinfer_bench.data", root / "data")):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
    data = types.SimpleNamespace()
    for module in ("definition", "workload", "solution", "trace"):
        loaded = importlib.import_module(f"flashinfer_bench.data.{module}")
        for name in ("Definition", "Workload", "Solution", "Trace"):
            if hasattr(loaded, name):
                setattr(data, name, getattr(loaded, name))
    return data


class Checker:
    def __init__(self, root, data):
        self.root, self.data = root, data
        self.problems = []
        self.definitions, self.solutions = {}, {}
        self.counts = dict.fromkeys(("definitions", "workloads", "solutions", "traces"), 0)

    def problem(self, path, text):
        self.problems.append(f"{path.relative_to(self.root)}: {text}")

    def parse(self, model, path, text):
        try:
            return model.model_validate_json(text)
        except Exception as error:
            self.problem(path, str(error).replace("\n", "; "))
            return None

    def depth(self, path, parts):
        """flashinfer-bench's validator skips files at any other depth, silently."""
        if len(path.relative_to(self.root).parts) != parts:
            self.problem(path, f"{parts} path components expected; upstream's validator would skip the file")

    def load(self):
        for path in sorted((self.root / "definitions").rglob("*.json")):
            self.depth(path, 3)
            d = self.parse(self.data.Definition, path, path.read_text())
            if d is None:
                continue
            self.counts["definitions"] += 1
            if d.name in self.definitions:
                self.problem(path, f"definition name {d.name} is taken")
            if path.stem != d.name or path.parent.name != d.op_type:
                self.problem(path, f"should be definitions/{d.op_type}/{d.name}.json")
            self.definitions[d.name] = d
        for path in sorted((self.root / "solutions").rglob("*.json")):
            self.depth(path, 5)
            s = self.parse(self.data.Solution, path, path.read_text())
            if s is None:
                continue
            self.counts["solutions"] += 1
            if s.name in self.solutions:
                self.problem(path, f"solution name {s.name} is taken")
            if s.definition not in self.definitions:
                self.problem(path, f"unknown definition {s.definition}")
            self.solutions[s.name] = s
        self.lines("workloads", 3)
        self.lines("traces", 4)

    def lines(self, kind, parts):
        seen = set()
        for path in sorted((self.root / kind).rglob("*.jsonl")):
            self.depth(path, parts)
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if not line.strip():
                    continue
                t = self.parse(self.data.Trace, path, line)
                if t is None:
                    continue
                self.counts[kind] += 1
                where = f"line {number}: "
                if t.is_workload_trace() != (kind == "workloads"):
                    self.problem(path, where + "a workload line in traces/, or the reverse")
                self.workload(path, where, t)
                if kind == "workloads":
                    if (t.definition, t.workload.uuid) in seen:
                        self.problem(path, where + f"uuid {t.workload.uuid} is taken")
                    seen.add((t.definition, t.workload.uuid))
                elif t.solution not in self.solutions:
                    self.problem(path, where + f"unknown solution {t.solution}")

    def workload(self, path, where, trace):
        d = self.definitions.get(trace.definition)
        if d is None:
            self.problem(path, where + f"unknown definition {trace.definition}")
            return
        variable = {n for n, a in d.axes.items() if a.type == "var"}
        if set(trace.workload.axes) != variable:
            self.problem(path, where + f"axes {sorted(trace.workload.axes)}, expected {sorted(variable)}")
        if any(v <= 0 for v in trace.workload.axes.values()):
            self.problem(path, where + "axes must be positive")
        if set(trace.workload.inputs) != set(d.inputs):
            self.problem(path, where + "inputs differ from the definition's")
        # variable axes must follow from input shapes, or outputs cannot be allocated
        shaped = {a for t in d.inputs.values() if t.shape for a in t.shape}
        if not variable <= shaped:
            self.problem(path, where + f"axes {sorted(variable - shaped)} occur in no input shape")
        for name, value in trace.workload.inputs.items():
            scalar = name in d.inputs and d.inputs[name].shape is None
            if (value.type == "scalar") != scalar:
                self.problem(path, where + f"input {name} is {value.type}")


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip())
        return 2
    root = pathlib.Path(sys.argv[1]).resolve()
    data, reason = whole_package()
    if data is not None:
        print("flashinfer_bench.data imported whole; TraceSet.from_path:", end=" ")
        try:
            loaded = data.TraceSet.from_path(str(root))
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
            return 1
        print(f"{len(loaded.definitions)} definitions, {sum(map(len, loaded.workloads.values()))} workloads")
    else:
        print(f"flashinfer_bench.data cannot be imported here: {reason}")
        data = data_modules()
        if data is None:
            print("flashinfer-bench is not installed: pip install flashinfer-bench --no-deps; pip install pydantic")
            return 2
        print("its definition, workload, solution and trace modules load; using those")
    checker = Checker(root, data)
    checker.load()
    for problem in checker.problems:
        print("  " + problem)
    print(", ".join(f"{n} {what}" for what, n in checker.counts.items()) + f": {len(checker.problems)} problems")
    return 1 if checker.problems or checker.counts["definitions"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
