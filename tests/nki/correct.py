#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs correct_kernels.py: no diagnostics, and NumPy's results.   correct.py LIBRARY [NAME...]"""
import json
import os
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    sys.path.insert(0, sys.argv[1])
    import kernwright_nki
    path = os.path.join(HERE, "correct_kernels.py")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    module = {}
    exec(compile(text, path, "exec"), module)
    wrong = 0
    names = sys.argv[2:] or list(module["CASES"])
    for name in names:
        inputs, reference, *more = module["CASES"][name]
        random = np.random.default_rng(1)
        with tempfile.TemporaryDirectory() as folder:
            arrays, arguments = [], {}
            code = module[name].__code__
            for k, (kind, *shape) in enumerate(inputs):
                array = (random.integers(0, 10, shape).astype(np.int32) if kind == "int32" else
                         random.uniform(0.5, 1, shape).astype(np.float32) if kind == "decay" else
                         random.standard_normal(shape).astype(np.float32))
                file = os.path.join(folder, f"in{k}")
                array.tofile(file)
                arrays.append(array)
                arguments[code.co_varnames[k]] = {"dtype": str(array.dtype), "shape": shape, "data": file}
            request = {"file": path, "text": text, "kernel": name, "arguments": arguments, "out": folder, **(more[0] if more else {})}
            answer = json.loads(kernwright_nki.inspect(json.dumps(request)))
            expected = reference(*arrays)
            expected = expected if isinstance(expected, tuple) else (expected,)
            problem = answer["text"]
            if not problem and len(answer["results"]) != len(expected):
                problem = f"{len(answer['results'])} results instead of {len(expected)}"
            for k, want in enumerate(expected):
                if problem:
                    break
                got = np.fromfile(os.path.join(folder, f"{k}.bin"), dtype=want.dtype if want.dtype.kind in "iu" else np.float32)
                if got.size != want.size:
                    problem = f"result {k} has {got.size} elements instead of {want.size}"
                    break
                got = got.reshape(want.shape)
                error = np.abs(got.astype(np.float64) - want).max()
                if error > (0 if want.dtype.kind in "iu" else 2e-5 * max(1, np.abs(want).max())):
                    problem = f"result {k} is wrong by {error:g}"
        if problem:
            wrong += 1
            print(f"{name}: {problem}")
    print(f"{len(names) - wrong} of {len(names)} correct kernels hold")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
