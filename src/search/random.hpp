// SPDX-License-Identifier: Apache-2.0
// The search's only source of chance: the same seed gives the same numbers with every compiler and
// standard library (the std distributions do not promise that).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kw {

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, every seed is a good seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, n), n >= 1. The bias of the multiply-shift is below n / 2^32.
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(((next() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
  }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  template <class T> void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

} // namespace kw
