# SPDX-License-Identifier: Apache-2.0
"""The judge's random sequences written a second time (src/tensor/random.hpp, permutation.hpp), in whole numbers: Philox4x32-10
keyed by SHA-256, and Feistel permutations with cycle walking."""
import hashlib

M32 = 0xFFFFFFFF
WORDS, ROWS, TENSOR = 1, 2, 3  # channels of a stream


class Stream:
    def __init__(self, seed, trial, tensor):
        digest = hashlib.sha256()
        for field in (b"kernwright inputs 1", bytes(seed), trial.to_bytes(8, "little") + tensor.to_bytes(4, "little")):
            digest.update(len(field).to_bytes(8, "little") + field)
        self.words = [int(digest.hexdigest()[8 * i:8 * i + 8], 16) for i in range(4)]

    def at(self, channel, index):
        """Four words of a block."""
        k0, k1, *nonce = self.words
        a, b, c, d = index & M32, index >> 32 | channel << 28, *nonce
        for _ in range(10):
            p, q = a * 0xD2511F53, c * 0xCD9E8D57
            a, b, c, d = q >> 32 ^ b ^ k0, q & M32, p >> 32 ^ d ^ k1, p & M32
            k0, k1 = k0 + 0x9E3779B9 & M32, k1 + 0xBB67AE85 & M32
        return a, b, c, d


def permutation(size, keys):
    """A bijection of range(size) as a function; six keys."""
    half = (max((size - 1).bit_length() if size else 0, 2) + 1) // 2
    mask = (1 << half) - 1

    def once(x):
        left, right = x >> half, x & mask
        for key in keys:
            f = (right ^ key) * 0x9E3779B1 & M32
            f = (f ^ f >> 15) * 0x85EBCA77 & M32
            left, right = right, left ^ (f ^ f >> 13) & mask
        return left << half | right

    def walk(x):
        x = once(x)
        while x >= size:
            x = once(x)
        return x

    return walk


def below(word, n):
    """A number below n from a random word."""
    return n * word >> 32
