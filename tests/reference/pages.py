#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs of kind "lengths", "block_table" and "fp8_pages", written a second time: what src/tensor/draw_lengths.cpp and
draw_fp8_pages.cpp draw for (seed, trial, tensor).

As a program it holds the frozen bits of their tests against its own. Whole numbers only, but for the table of normal codes, which is
derived from quantiles here and written down there.
"""
import functools
import hashlib
import pathlib
import re
import statistics
import sys

import numpy as np

from streams import ROWS, TENSOR, WORDS, Stream, below, permutation

VALUES = [m / 512 if e == 0 else (8 + m) * 2.0 ** (e - 10) for e in range(16) for m in range(8)][:127]
LARGEST = 0x7E


def nearest_code(x):
    """Of float8_e4m3fn; ties to even."""
    return min(range(127), key=lambda c: (abs(VALUES[c] - x), c & 1))


NORMAL = [nearest_code(155 * statistics.NormalDist().inv_cdf((128.5 + i) / 256)) for i in range(128)]


def normal_code(b):
    return b & 0x80 | NORMAL[b & 0x7F]


def any_code(b):
    return b - 1 if b & 0x7F == 0x7F else b


def lengths(stream, edges_only, count, limit, page, edges):
    out = []
    for sequence in range(count):
        choice, word, beside, _ = stream.at(ROWS, sequence)
        choice, beside = choice % 16, beside % 3

        def full():
            return limit - below(word, min(page, limit))

        def some():
            return below(word, limit + 1)

        def at_page():
            return page * below(word, limit // page + 1) - 1 + beside

        def at_edge():
            return edges[word % len(edges)] - 1 + beside if edges else at_page()

        if edges_only:
            kinds = [lambda: 0] * 2 + [lambda: 1] * 2 + [at_page] * 3 + [at_edge] * 4 + \
                [lambda: limit - 1, lambda: limit, lambda: limit - 1] + [some] * 2
        elif sequence % 2 == 0:
            kinds = [full] * 16
        else:
            kinds = [some] * 8 + [full] * 3 + [at_edge] * 3 + [at_page, lambda: 0]
        out.append(min(max(kinds[choice](), 0), limit))
    return np.array(out, np.int64)


def block_table(stream, length, width, pages, page):
    """Rows for sequences of these lengths."""
    alike = stream.at(TENSOR, 0)[0] % 8 == 0
    out = np.full((len(length), width), -1, np.int64)
    for row, tokens in enumerate(length):
        block = 0 if alike else 3 * row
        kind, word, *_ = stream.at(WORDS, block)
        shuffled = permutation(pages, (*stream.at(WORDS, block + 1), *stream.at(WORDS, block + 2)[:2]))
        start = below(word, max(pages - width, 0) + 1)
        owned = -(-int(tokens) // page)
        shown = width if stream.at(ROWS, row)[0] % 2 == 0 else owned
        for i in range(min(shown, pages)):
            out[row, i] = start + i if kind % 8 == 0 else pages - 1 - i if kind % 8 == 1 else shuffled(i)
    return out


def scale_bits(cls, tensor_words, words):
    """Of the float32 scale of one token."""
    ordinary, fraction = 127 - 8, words[0] >> 9
    if cls == "uniform":
        return (ordinary - 3 + words[1] % 7) << 23 | fraction
    if cls == "scale_sweep":
        return (ordinary + tensor_words[3] % 41 - 20) << 23 | fraction
    if cls == "row_scales":
        return (ordinary + words[2] % 41 - 20) << 23 | fraction
    if cls == "small_integers":
        return 127 << 23
    if cls == "ties":
        return ordinary << 23 | tensor_words[1] >> 9
    if cls != "near_ties":
        return ordinary << 23 | fraction
    choice, base, word = tensor_words[0] >> 8 & 0xFFFF, ordinary << 23, words[0]
    some = base | tensor_words[1] >> 9
    return [lambda: (some >> 20 << 20) + word % (1 << (4 + choice % 17)), lambda: some + (word >> (9 + choice % 4)),
            lambda: some + ((1 << (2 + choice % 16)) if word % 5 == 0 else 0),
            lambda: base + (word >> 11) if word % 5 == 0 else base - 1 - (word >> 20)][tensor_words[0] % 4]()


def fp8_pages(stream, cls, shape):
    """The bytes of a cache of this shape."""
    pages, *between, width = shape
    dim, tokens = width - 4, int(np.prod(between))
    tensor_words = stream.at(TENSOR, 0)
    block = functools.lru_cache(256)(lambda index: stream.at(WORDS, index))

    def random_byte(index):
        place = index // 4  # of the word; a chunk has 256 of them, word j of block b as its element 64 j + b
        chunk, e = divmod(place, 256)
        return block(chunk * 64 + e % 64)[e // 64] >> 8 * (index % 4) & 255

    prototypes = [normal_code(stream.at(TENSOR, 1 + i // 16)[i // 4 % 4] >> 8 * (i % 4) & 255) for i in range(4 * dim)]
    if cls == "near_ties" and tensor_words[0] >> 31:
        prototypes[:dim] = [code if i == tensor_words[2] % dim else 0 for i, code in enumerate(prototypes[:dim])]
    small = [0, 0x38, 0x40, 0x44, 0x48, 0x38, 0x40, 0x44]

    def code(b, column, words):
        odd = 0x80 if (column + words[1] % 2) % 2 else 0
        return {
            "uniform": lambda: any_code(b),
            "offset": lambda: NORMAL[b & 0x7F] | (0x80 if tensor_words[1] % 2 else 0),
            "alternating": lambda: 0x70 | b & 7 | odd,
            "sparse": lambda: 0 if b & 7 else b & 0x80 | 8 + 7 * (b >> 3 & 15),
            "impulse": lambda: 0 if column != words[1] % dim else 0x38 if b & 0x7F == 0 else any_code(b),
            "small_integers": lambda: b & 0x80 | small[b & 7],
            "denormals": lambda: b & 0x87,
            "max_finite": lambda: b & 0x80 | LARGEST,
            "ties": lambda: prototypes[words[1] % 4 * dim + column],
            "near_ties": lambda: prototypes[column],
        }.get(cls, lambda: normal_code(b))()

    out = bytearray()
    for page in range(pages):
        words = [stream.at(ROWS, page * tokens + t) for t in range(tokens)]
        first = page * tokens * width
        out += bytes(code(random_byte(first + t * dim + c), c, words[t]) for t in range(tokens) for c in range(dim))
        for w in words:
            out += scale_bits(cls, tensor_words, w).to_bytes(4, "little")
    return np.frombuffer(out, np.int8).reshape(shape)


def frozen(test):
    path = pathlib.Path(__file__).resolve().parents[2] / "src/tensor" / test
    return re.search(r'sha256_hex\(all\), "(\w+)"', path.read_text())[1]


def main():
    seed, text = bytes([3, 1, 4, 1, 5]).ljust(16, b"\0"), ""
    for width in (1, 33, 40):
        for edges_only in (False, True):
            for trial in range(32):
                n = lengths(Stream(seed, trial, 3), edges_only, 6, width * 64, 64, [2048])
                table = block_table(Stream(seed, trial, 4), n, width, 173, 64)
                text += "".join(f"{x} " for x in (*n, *table.ravel()))
    seed, cache = bytes([2, 7, 1, 8]).ljust(16, b"\0"), b""
    for cls in ("normal", "uniform", "scale_sweep", "row_scales", "offset", "alternating", "sparse", "impulse", "small_integers",
                "ties", "denormals", "max_finite", "near_ties"):
        for trial in range(8):
            cache += fp8_pages(Stream(seed, trial, 1), cls, (20, 8, 1, 16)).tobytes()
    status = 0
    for test, drawn in (("draw_lengths_test.cpp", text.encode()), ("draw_fp8_pages_test.cpp", cache)):
        ours = hashlib.sha256(drawn).hexdigest()
        print(f"{test}\n  frozen {frozen(test)}\n  here   {ours}")
        status |= ours != frozen(test)
    return status


if __name__ == "__main__":
    sys.exit(main())
