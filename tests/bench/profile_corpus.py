#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles every kernel of tests/corpus and holds the word against the one that its construction gives.

Prints a line per kernel, the confusion matrix (rows: what it is, columns: what the profile says), and FIGURE lines
(docs/BENCH.md). Part "tuning" was looked at while thresholds were set, part "held out" was not. Needs a quiet machine.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from campaigns import figure

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "corpus"
WORDS = ["launch", "mixed", "compute", "memory-L2", "memory-L3", "memory-DRAM", "vectorisation", "dependency", "latency", "load_store",
         "threading", "tail", "unknown"]
PARTS = ["tuning", "held out"]


class Labelled:
    """A kernel and what the first lines of its source say of it."""

    def __init__(self, path):
        self.path, self.name = path, path.stem
        keys = dict(re.findall(r"^// (bottleneck|workload|threads|part): (.+)$", path.read_text(), re.M))
        self.word, self.workload, self.threads, self.part = keys["bottleneck"], keys["workload"], int(keys["threads"]), keys["part"]
        self.definition = self.workload.split("-")[0]
        assert self.word in WORDS and self.part in PARTS, path


def labelled():
    return [Labelled(p) for p in sorted((CORPUS / "kernels").glob("*.cpp"))]


def command(binary, kernel, *more):
    return [binary, "--json", "--operators", str(CORPUS / "operators"), *more, "profile", str(kernel.path), "-d", kernel.definition,
            "--workload", kernel.workload, "--threads", str(kernel.threads)]


def said(profile):
    """The word of a profile, with its level where it has one."""
    state = profile["state"]
    return "-".join(filter(None, [state["word"], state.get("level", "")]))


def matrix(pairs):
    counts = collections.Counter(pairs)
    columns = [w for w in WORDS if any(s == w for _, s in pairs)]
    rows = [w for w in WORDS if any(l == w for l, _ in pairs)]
    lines = ["| is \\ said | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for row in rows:
        lines.append(f"| {row} | " + " | ".join(str(counts[row, c]) if counts[row, c] else "" for c in columns) + " |")
    return "\n".join(lines)


def accuracy(name, pairs):
    if pairs:
        figure(name, 100 * sum(l == s for l, s in pairs) / len(pairs), "percent")
        print(f"# {name}: {sum(l == s for l, s in pairs)} of {len(pairs)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", nargs="*", help="kernels whose name contains one of these")
    parser.add_argument("--keep", help="folder for the profiles as JSON")
    options = parser.parse_args()
    kernels = [k for k in labelled() if not options.only or any(part in k.name for part in options.only)]
    cpus = len(os.sched_getaffinity(0))
    results = []
    with tempfile.TemporaryDirectory(prefix="kernwright-corpus-") as state:
        for kernel in kernels:
            if kernel.threads > cpus:
                print(f"# {kernel.name}: left out, it needs {kernel.threads} CPUs")
                continue
            done = subprocess.run(command(os.path.abspath(options.bin), kernel, "--state", state), capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{kernel.name}: exit {done.returncode}\n{done.stdout}{done.stderr}")
            profile = json.loads(done.stdout)["profile"]
            if options.keep:
                pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
                pathlib.Path(options.keep, kernel.name + ".json").write_text(done.stdout)
            word, sure = said(profile), profile["state"]["confidence"]
            results.append((kernel, word))
            print(f"{'   ' if word == kernel.word else '!! '}{kernel.name:24} {kernel.part:9} is {kernel.word:14} said {word:14} {100 * sure:3.0f} %", flush=True)
    for part in PARTS:
        print(f"\n{part}\n" + matrix([(k.word, w) for k, w in results if k.part == part]))
    print("\nall\n" + matrix([(k.word, w) for k, w in results]) + "\n")
    accuracy("profile.corpus.accuracy", [(k.word, w) for k, w in results])
    for part in PARTS:
        accuracy("profile.corpus.accuracy." + part.replace(" ", "_"), [(k.word, w) for k, w in results if k.part == part])
    figure("profile.corpus.unknown", sum(w == "unknown" for _, w in results), "kernels")


if __name__ == "__main__":
    main()
