// SPDX-License-Identifier: Apache-2.0
// A secret bijection of 0 .. size - 1 that is evaluated place by place: a Feistel network over the
// least even number of bits that holds the size, with cycle walking (Black and Rogaway, "Ciphers
// with arbitrary finite domains", CT-RSA 2002).
#pragma once

#include "tensor/random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace kw {

class Permutation {
 public:
  Permutation(std::int64_t size, const RandomWords& a, const RandomWords& b)
      : size_(static_cast<std::uint64_t>(size)),
        half_((std::max<std::uint32_t>(
                   static_cast<std::uint32_t>(std::bit_width(size_ - (size_ > 0 ? 1 : 0))), 2) +
               1) /
              2),
        mask_((std::uint32_t{1} << half_) - 1), keys_{a[0], a[1], a[2], a[3], b[0], b[1]} {}

  /// `place` lies in [0, size).
  [[nodiscard]] std::int64_t operator()(std::int64_t place) const {
    auto x = static_cast<std::uint64_t>(place);
    do
      x = once(x);
    while (x >= size_);
    return static_cast<std::int64_t>(x);
  }

 private:
  [[nodiscard]] std::uint64_t once(std::uint64_t x) const {
    auto left = static_cast<std::uint32_t>(x >> half_),
         right = static_cast<std::uint32_t>(x) & mask_;
    for (const std::uint32_t key : keys_) {
      std::uint32_t f = (right ^ key) * 0x9e3779b1u;
      f = (f ^ (f >> 15)) * 0x85ebca77u;
      f ^= f >> 13;
      left ^= f & mask_;
      std::swap(left, right);
    }
    return static_cast<std::uint64_t>(left) << half_ | right;
  }

  std::uint64_t size_;
  std::uint32_t half_, mask_;
  std::array<std::uint32_t, 6> keys_;
};

} // namespace kw
