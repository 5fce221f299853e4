#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs of kind "slots", written a second time: what src/tensor/draw_slots.cpp draws for (seed, trial, tensor).

As a program it holds the frozen bits of src/tensor/draw_slots_test.cpp against its own. Whole numbers only, so that nothing
depends on a machine: Philox4x32-10 keyed by SHA-256, Feistel permutations with cycle walking.
"""
import hashlib
import pathlib
import re
import sys

import numpy as np

from streams import ROWS, TENSOR, WORDS, Stream, below, permutation


def entries(edges, most, words, low, high):
    def some(least, largest):
        return least + below(words[1], largest - least + 1)

    def at_page():
        return 64 * (1 + some(0, most // 64)) - 1 + words[2] % 3

    choice = words[0] % 16
    if edges:
        kinds = [lambda: 0] * 4 + [lambda: 1] * 3 + [lambda: some(2, 5)] * 2 + [lambda: most - 1] * 2 + [at_page] * 2 + [lambda: most] * 3
    else:
        kinds = [lambda: most] * 12 + [lambda: some(0, most)] * 2 + [at_page, lambda: some(0, 3)]
    least, largest = int(low * most), int(high * most)
    return min(max(kinds[choice](), least), largest)


def draw(seed, trial, tensor, input_class, shape, limit, low=0.0, high=1.0):
    """Shape [rows, columns] of int64; classes `normal` and `mask_edges`."""
    rows, columns = shape
    stream = Stream(seed, trial, tensor)
    alike = stream.at(TENSOR, 0)[0] % 8 == 0
    out = np.full(shape, -1, np.int64)
    for row in range(rows):
        block = 0 if alike else 3 * row
        kind, word, *_ = stream.at(WORDS, block)
        shuffled = permutation(limit, (*stream.at(WORDS, block + 1), *stream.at(WORDS, block + 2)[:2]))
        n = entries(input_class == "mask_edges", min(limit, columns), stream.at(ROWS, row), low, high)
        start = below(word, limit - n + 1)
        order = {0: lambda i: start + i, 1: lambda i: limit - 1 - i,
                 2: lambda i: limit - 1 - i // 2 if i % 2 else i // 2}.get(kind % 8, shuffled)
        out[row, :n] = [order(i) for i in range(n)]
    return out


def main():
    test = pathlib.Path(__file__).resolve().parents[2] / "src/tensor/draw_slots_test.cpp"
    frozen = re.search(r'sha256_hex\(all\), "(\w+)"', test.read_text())[1]
    seed = bytes([9, 8, 7, 6, 5]).ljust(16, b"\0")
    text = "".join(f"{slot} " for columns, limit in ((80, 1000), (80, 7), (200, 541568)) for cls in ("normal", "mask_edges")
                   for trial in range(32) for slot in draw(seed, trial, 0, cls, (3, columns), limit).ravel())
    ours = hashlib.sha256(text.encode()).hexdigest()
    print(f"frozen {frozen}\nhere   {ours}")
    return 0 if ours == frozen else 1


if __name__ == "__main__":
    sys.exit(main())
