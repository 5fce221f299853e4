// SPDX-License-Identifier: Apache-2.0
// The class for inputs that are ranked (`near_ties`): rows whose k-th and (k+1)-th element, and
// others about them, are equal or next to equal. A row has three parts, scattered over its places:
// elements clearly above, a cluster of near-ties that the boundary runs through, the rest below.
//
//   chain       the cluster descends in steps of one ulp
//   two levels  it has two values, one ulp apart, and the boundary between them
//   window      it is random within 2^s ulps that begin at a multiple of 2^s, s = 1 .. 20: all keys
//               that keep fewer bits (float16: s = 13, bfloat16: 16, twelve bits: 20) are equal
//   power       the k taken are at or above a power of two, what follows is next below it and
//               rounds up to it in any narrower format: 31.995 against 32.5
//   tied        it has one value;   constant: so has the whole row
//   subnormal   a window among or around the subnormal numbers
//   zeros       +0 and -0, between very small numbers of both signs
//   masked      -Inf from about the k-th element on;   infinite: +Inf up to about there
//
// A quarter of the rows is mirrored at zero. The k-th stands in the last place, the first, near the
// end, or anywhere, the others by a stride from there: 1, -1 (a sorted run) or random.
// In formats of fewer bits "ulp" is theirs.
#include "tensor/convert.hpp"
#include "tensor/pattern.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace kw {
namespace {

/// Floats as integers of the same order: neighbours differ by 1, zero is 0.
using Code = std::int32_t;

float from_code(Code c) {
  return std::bit_cast<float>(c >= 0 ? static_cast<std::uint32_t>(c)
                                     : 0x80000000u | static_cast<std::uint32_t>(-c));
}

enum class Shape {
  chain,
  two_levels,
  window,
  power,
  tied,
  constant,
  subnormal,
  zeros,
  masked,
  infinite
};
using enum Shape;
constexpr std::array<Shape, 16> shapes{chain,  two_levels, window,   window,   window,    power,
                                       power,  power,      tied,     constant, subnormal, zeros,
                                       masked, masked,     infinite, window};

constexpr Code far = 1 << 21; ///< a quarter of an octave

struct Row {
  Row(const Reach& reach, const RowSegment& at) : columns(at.columns), k(at.ranked) {
    const auto& [a, b, c, d] = at.row_words;
    shape = shapes[a % shapes.size()];
    const bool full = reach.dtype == DType::float32 || reach.dtype == DType::float64;
    if ((shape == masked || shape == infinite) && (!reach.extremes || !has_infinity(reach.dtype)))
      shape = window;
    if ((shape == subnormal || shape == zeros) && (!reach.extremes || !full))
      shape = window;
    mirrored = shape != subnormal && (a >> 4) % 4 == 0;
    shift = full ? 0 : 24 + std::ilogb(unit_roundoff(reach.dtype));
    width = std::max(shift, 1 + static_cast<int>((a >> 6) % 20));
    const std::array<std::int64_t, 4> under{1, 4, k, columns};
    const std::array<std::int64_t, 4> over{1, 2, k / 2 + 1, k};
    last_above = k - std::min(k, over[(a >> 14) % 4]);
    last_near = k + under[(a >> 12) % 4];

    int exponent = reach.extremes ? static_cast<int>((a >> 16) % 11) - 3 : 0;
    if (reach.extremes && (a >> 20) % 4 == 0)
      exponent = 5; // 32: the coarse half of float16 and fixed point
    base = (127 + exponent) << 23;
    if (shape != power)
      base += static_cast<Code>(d >> 9) & ~((1 << width) - 1);
    if (shape == subnormal)
      base = d % 2 == 0 ? -(1 << (width - 1)) : static_cast<Code>(d >> 10) & ~((1 << width) - 1);
    const bool wide = full || reach.dtype == DType::bfloat16;
    spread = reach.extremes && wide ? 4 + static_cast<int>(c >> 29) : 10;
    const std::array<std::int64_t, 4> counts{k - 1, k, k + 1, k + 3};
    infinities = counts[(d >> 4) % 4];
    zero_row = shape == constant && d % 8 == 0;

    const std::int64_t back = std::min<std::int64_t>(columns, 16);
    const std::array<std::int64_t, 4> anchors{
        static_cast<std::int64_t>(b >> 4) % columns, columns - 1, 0,
        columns - 1 - static_cast<std::int64_t>(b >> 4) % back};
    anchor = anchors[b % 4];
    stride = std::max<std::int64_t>(1, static_cast<std::int64_t>(c % 0x10000000u) % columns);
    if ((b >> 2) % 4 < 2)
      stride = (b >> 2) % 2 == 0 ? 1 : std::max<std::int64_t>(1, columns - 1);
    while (std::gcd(stride, columns) != 1)
      stride = stride + 1 >= columns ? 1 : stride + 1;
  }

  /// 0 .. columns - 1, about in descending order of the values; the anchor has k - 1.
  [[nodiscard]] std::int64_t rank(std::int64_t column) const {
    const std::int64_t steps = (column - anchor + columns) % columns;
    return (k - 1 + stride * steps) % columns;
  }
  [[nodiscard]] Code stepped(std::uint32_t offset) const {
    return static_cast<Code>(offset) & ~((1 << shift) - 1);
  }
  [[nodiscard]] Code in_window(std::uint32_t word) const {
    return base + stepped((word >> 7) & ((1u << width) - 1));
  }
  [[nodiscard]] Code next_below(std::uint32_t word) const { // at most 2^12 ulps of float32
    return base - stepped((word >> 20) + (1u << shift));
  }

  [[nodiscard]] float value(std::int64_t rank, std::uint32_t word) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (shape == infinite && rank < infinities)
      return infinity;
    if (shape == masked && rank >= infinities)
      return -infinity;
    if (zero_row || (shape == zeros && rank >= last_above && rank < last_near))
      return word & 1u ? -0.0F : 0.0F;
    // Mirrored: what was below is above, so that ranks are turned round as well.
    const bool taken = rank < k;
    Code code = 0;
    if (shape == constant) {
      code = base;
    } else if (shape == power) {
      const Code over = base + stepped(word >> 11);
      code = taken != mirrored ? over : next_below(word);
      if (rank >= last_near)
        code = mirrored ? base + far + stepped(word >> 10) : below(word);
    } else if (rank < last_above) {
      code = mirrored ? below(word) : base + far + stepped(word >> 10);
    } else if (rank >= last_near) {
      code = mirrored ? base + far + stepped(word >> 10) : below(word);
    } else {
      code = near(rank, taken != mirrored, word);
    }
    if (shape == zeros)
      code =
          rank < last_above ? 1 + static_cast<Code>(word >> 9) : -1 - static_cast<Code>(word >> 9);
    return from_code(mirrored && shape != zeros ? -code : code);
  }

  [[nodiscard]] Code below(std::uint32_t word) const {
    return base - far - stepped(word >> spread);
  }
  [[nodiscard]] Code near(std::int64_t rank, bool upper, std::uint32_t word) const {
    constexpr std::int64_t longest = 64;
    const auto steps = static_cast<Code>(std::clamp(k - rank, -longest, longest));
    switch (shape) {
    case chain:
      return base + (mirrored ? -steps : steps) * (1 << shift);
    case two_levels:
      return base + (upper ? 1 << shift : 0);
    case tied:
      return base;
    default:
      return in_window(word);
    }
  }

  std::int64_t columns, k;
  Shape shape = window;
  bool mirrored = false, zero_row = false;
  int shift = 0, width = 1, spread = 4;
  std::int64_t last_above = 0, last_near = 0, infinities = 0, anchor = 0, stride = 1;
  Code base = 0;
};

} // namespace

void near_ties_pattern(const Reach& reach, const RowSegment& at, std::span<const std::uint32_t> w,
                       std::span<float> x) {
  const Row row(reach, at);
  std::int64_t rank = row.rank(at.column);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = row.value(rank, w[i]);
    rank += row.stride;
    rank -= rank >= row.columns ? row.columns : 0;
  }
}

} // namespace kw
