// SPDX-License-Identifier: Apache-2.0
// splitmix64 (Steele, Lea and Flood 2014): small, seeded, the same everywhere. For resampling.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kw {

struct SplitMix {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, n).
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }
};

} // namespace kw
