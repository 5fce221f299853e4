#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels with known faults must be reported by their code, correct ones must not be reported at all.

  corpus.py LIBRARY [NAME...]    LIBRARY: the folder of the extension module
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PRELUDE = ("import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\n"
           "import neuronxcc.nki.typing as nt\n")


def arguments_of(text):
    """x=float32[128,64], eps=1e-6"""
    out = {}
    for name, dtype, shape in re.findall(r"(\w+)=(\w+)\[([\d,]*)\]", text):
        out[name] = {"dtype": dtype, "shape": [int(n) for n in shape.split(",")]}
    for name, number in re.findall(r"(\w+)=([-+.\de]+)(?=,|$|\s)", text):
        out[name] = json.loads(number)
    return out


def faulty():
    with open(os.path.join(HERE, "faulty_kernels.txt"), encoding="utf-8") as f:
        sections = f.read().split("\n### ")[1:]
    for section in sections:
        title, source = section.split("\n", 1)
        parts = [p.strip() for p in title.split("|")]
        grid = [int(n) for n in parts[3].removeprefix("grid=").split(",")] if len(parts) > 3 else None
        yield parts[0], parts[1], arguments_of(parts[2] if len(parts) > 2 else ""), grid, source


def main():
    sys.path.insert(0, sys.argv[1])
    import kernwright_nki

    wanted = sys.argv[2:]
    wrong = total = 0
    for name, code, arguments, grid, source in faulty():
        if wanted and not any(w in name for w in wanted):
            continue
        total += 1
        request = {"file": name, "text": PRELUDE + source, "arguments": arguments}
        if grid:
            request["grid"] = grid
        answer = json.loads(kernwright_nki.inspect(json.dumps(request)))
        found = [d["code"] for d in answer["diagnostics"]]
        if wanted:
            print(answer["text"])
        if code in found:
            continue
        wrong += 1
        print(f"{name}: {code} is not among {found}\n{answer['text']}")
    print(f"{total - wrong} of {total} faulty kernels reported by their code")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
