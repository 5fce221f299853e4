// SPDX-License-Identifier: Apache-2.0
// The classes for unbounded floats (kind "any"; kinds "normal" and "l2_normalized" with a smaller
// reach). z ~ N(0,1); rows run along the last axis.
//
//   normal           z
//   uniform          [0, 1): one-signed, so errors of a sum do not cancel
//   scale_sweep      z 2^e, one e in -20..20 for the tensor (less in narrow formats)
//   row_scales       z 2^e, one e per row: a tolerance taken from the whole tensor would hide rows
//   offset           mean 1e4 (2^(p-2) in p-bit formats), random sign: cancellation
//   alternating      +-offset + z, alternating along the row: order and compensation of sums
//   heavy_tail       z / uniform (slash distribution, tails as Cauchy), clipped
//   sparse           80..99 % zeros; 1/8 of the rows all zero, 1/8 with one non-zero
//   impulse          one non-zero per row, at a random place: index errors show exactly
//   small_integers   -4..4: every format holds them and sums are exact
//   wide_mantissa    even tensors: odd integers of min(16, p) bits; odd tensors: -1, 0, 1 with
//   about
//                    128 non-zeros along the longest axis. Partial sums below 2^24 are exact in
//                    float32 in any order, and wrong in any narrower format
//   ties             four values in all; 1/4 of the rows constant
//   sorted           rows ascending, descending, or ascending with 1/16 of the places off
//   denormals        3/4 subnormal, 1/4 in the lowest normal binade
//   specials         half of the rows clean; in the others 1/16 of +-0, +-infinity, NaN
//   max_finite       the largest number and its halves, quarters, eighths; random sign
//   ill_conditioned  about 1/8 of the rows, at least one, are `alternating`; the others z
//   mask_edges       zero but for the first element, the last, both, or none of a row
//   near_ties        near_ties.cpp; where nothing is ranked: z
#include "tensor/convert.hpp"
#include "tensor/pattern.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace kw {
namespace {

/// Significand bits including the implicit one.
int precision(DType t) {
  return -std::ilogb(unit_roundoff(t));
}

int exponent_between(std::uint32_t word, int low, int high) {
  return low + static_cast<int>(word % static_cast<std::uint32_t>(high - low + 1));
}
float unit(std::uint32_t w) {
  return static_cast<float>(w >> 8) * 0x1p-24F;
}
float sign_of(std::uint32_t w) {
  return w & 1u ? -1.0F : 1.0F;
}

struct Pattern {
  const Reach& reach;
  const RowSegment& at;
  std::span<const float> z;
  std::span<const std::uint32_t> w;
  std::span<float> x;

  void scaled(float factor) const {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = z[i] * factor;
  }
  void offset() const {
    const float mean = sign_of(at.tensor_words[0]) * reach.offset;
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = mean + reach.noise * z[i];
  }
  void alternating() const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool odd = ((at.column + static_cast<std::int64_t>(i)) & 1) != 0;
      x[i] = (odd ? -reach.offset : reach.offset) + reach.noise * z[i];
    }
  }
  void heavy_tail() const {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = std::clamp(z[i] / (unit(w[i]) + 0x1p-24F), -reach.clip, reach.clip);
  }
  void only_at(std::int64_t column, float value) const {
    std::fill(x.begin(), x.end(), 0.0F);
    if (column >= at.column && column < at.column + static_cast<std::int64_t>(x.size()))
      x[static_cast<std::size_t>(column - at.column)] = value;
  }
  [[nodiscard]] std::int64_t random_column() const {
    return static_cast<std::int64_t>(at.row_words[1]) % at.columns;
  }
  void sparse() const {
    const std::uint32_t row_kind = at.row_words[0] % 8;
    if (row_kind == 0)
      return std::fill(x.begin(), x.end(), 0.0F);
    if (row_kind == 1) {
      const float value = 1.0F + unit(at.row_words[2]);
      return only_at(random_column(), value);
    }
    // Zero with probability 0.80 .. 0.99, in steps of 1/256.
    const std::uint32_t zeros = (205 + at.tensor_words[0] % 49) << 24;
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = w[i] < zeros ? 0.0F : z[i];
  }
  void impulse() const {
    constexpr std::array<float, 5> sizes{1, 2, 3, 4, 6}; // all exact in float4 too
    only_at(random_column(), sign_of(at.row_words[3]) * sizes[at.row_words[2] % sizes.size()]);
  }
  void small_integers() const {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(static_cast<int>((w[i] >> 8) % 9) - 4);
  }
  void wide_mantissa() const {
    if (at.tensor % 2 == 0) {
      const int bits = std::min(16, precision(reach.dtype));
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = sign_of(w[i]) * static_cast<float>(((w[i] >> (32 - bits)) | 1u));
      return;
    }
    const std::int64_t longest = std::max<std::int64_t>(at.longest_axis, 256);
    const auto some = static_cast<std::uint32_t>((std::int64_t{128} << 32) / longest);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = w[i] < some ? sign_of(w[i]) : 0.0F;
  }
  void ties() const {
    std::array<float, 4> values{};
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = (static_cast<float>(at.tensor_words[i] >> 27) - 15.5F) * 0.25F;
    const bool constant = at.row_words[0] % 4 == 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = values[constant ? at.row_words[1] >> 30 : w[i] >> 30];
  }
  void sorted() const {
    const std::uint32_t order = at.row_words[0] % 3;
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::int64_t column = at.column + static_cast<std::int64_t>(i);
      if (order == 1)
        column = at.columns - 1 - column;
      else if (order == 2 && w[i] % 16 == 0)
        column = static_cast<std::int64_t>(w[i] >> 4) % at.columns;
      const double place = (static_cast<double>(column) + static_cast<double>(unit(w[i]))) /
                           static_cast<double>(at.columns);
      x[i] = static_cast<float>(6 * place - 3);
    }
  }
  void denormals() const {
    // float64 is drawn through float: its own subnormals are out of reach, use those of float32.
    const DType t = reach.dtype == DType::float64 ? DType::float32 : reach.dtype;
    const bool as_float = min_normal(t) == min_normal(DType::float32);
    const int shift = 24 - precision(t); // of the fraction inside a float with the same exponents
    const auto step = static_cast<float>(min_subnormal(t));
    const std::uint32_t subnormals = 1u << (precision(t) - 1); // codes below the least normal
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::uint32_t code = subnormals > 1 ? 1 + (w[i] >> 4) % (subnormals - 1) : 1;
      code += w[i] >> 30 == 0 ? subnormals : 0;
      // By bits where the value is subnormal as a float too: arithmetic on those takes ~100x as
      // long.
      x[i] = as_float ? std::bit_cast<float>((w[i] << 31) | (code << shift))
                      : sign_of(w[i]) * static_cast<float>(code) * step;
    }
  }
  void specials() const {
    scaled(1);
    if (at.row_words[0] % 2 == 0)
      return;
    const float infinity =
        has_infinity(reach.dtype) ? std::numeric_limits<float>::infinity() : 0.0F;
    const float nan = has_nan(reach.dtype) ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
    const std::array<float, 5> values{0.0F, -0.0F, infinity, -infinity, nan};
    for (std::size_t i = 0; i < x.size(); ++i)
      if (w[i] % 16 == 0)
        x[i] = values[(w[i] >> 8) % values.size()];
  }
  void max_finite_values() const {
    const auto top =
        static_cast<float>(std::min(max_finite(reach.dtype), max_finite(DType::float32)));
    const std::array<float, 4> sizes{top, top / 2, top / 4, top / 8};
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = sign_of(w[i]) * sizes[w[i] >> 30];
  }
  void mask_edges() const {
    const std::uint32_t edges = at.row_words[0] % 4; // bit 0: the first element, bit 1: the last
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::int64_t column = at.column + static_cast<std::int64_t>(i);
      const bool kept = (column == 0 && (edges & 1u)) || (column == at.columns - 1 && (edges & 2u));
      x[i] = kept ? z[i] : 0.0F;
    }
  }
  void ill_conditioned() const {
    const auto chosen = static_cast<std::int64_t>(at.tensor_words[1]) % at.rows;
    if (at.row == chosen || at.row_words[0] % 8 == 0)
      alternating();
    else
      scaled(1);
  }
};

} // namespace

Reach reach_any(DType dtype) {
  Reach r;
  r.dtype = dtype;
  const int p = precision(dtype);
  r.offset = p >= 24 ? 1e4F : std::ldexp(1.0F, p - 2); // leaves the noise a step of half sigma
  switch (dtype) {
  case DType::float16:
  case DType::float8_e5m2:
    r.least_exponent = -10, r.largest_exponent = 8;
    break;
  case DType::float8_e4m3fn:
    r.least_exponent = -4, r.largest_exponent = 5, r.clip = 400;
    break;
  case DType::float4_e2m1:
    r.least_exponent = -1, r.largest_exponent = 1, r.clip = 6;
    break;
  default:
    break;
  }
  return r;
}

Reach reach_normal(DType dtype) {
  Reach r = reach_any(dtype);
  r.largest_exponent = 0;
  r.least_exponent = std::max(r.least_exponent, -10);
  r.offset = 4;
  r.noise = 0.5F;
  r.clip = 8;
  r.extremes = false;
  return r;
}

bool keeps_integers(InputClass cls) {
  return cls == InputClass::small_integers || cls == InputClass::wide_mantissa ||
         cls == InputClass::impulse;
}

void float_pattern(InputClass cls, const Reach& reach, const RowSegment& at,
                   std::span<const float> z, std::span<const std::uint32_t> w, std::span<float> x) {
  const Pattern p{reach, at, z, w, x};
  const auto power = [&](std::uint32_t word) {
    return std::ldexp(1.0F, exponent_between(word, reach.least_exponent, reach.largest_exponent));
  };
  switch (cls) {
  case InputClass::normal:
    return p.scaled(1);
  case InputClass::uniform:
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = unit(w[i]);
    return;
  case InputClass::scale_sweep:
    return p.scaled(power(at.tensor_words[0]));
  case InputClass::row_scales:
    return p.scaled(power(at.row_words[0]));
  case InputClass::offset:
    return p.offset();
  case InputClass::alternating:
    return p.alternating();
  case InputClass::heavy_tail:
    return p.heavy_tail();
  case InputClass::sparse:
    return p.sparse();
  case InputClass::impulse:
    return p.impulse();
  case InputClass::small_integers:
    return p.small_integers();
  case InputClass::wide_mantissa:
    return reach.extremes ? p.wide_mantissa() : p.scaled(1);
  case InputClass::ties:
    return p.ties();
  case InputClass::sorted:
    return p.sorted();
  case InputClass::denormals:
    return reach.extremes ? p.denormals() : p.scaled(1);
  case InputClass::specials:
    return reach.extremes ? p.specials() : p.scaled(1);
  case InputClass::max_finite:
    return reach.extremes ? p.max_finite_values() : p.scaled(1);
  case InputClass::ill_conditioned:
    return p.ill_conditioned();
  case InputClass::mask_edges:
    return p.mask_edges();
  case InputClass::near_ties:
    return at.ranked > 0 ? near_ties_pattern(reach, at, w, x) : p.scaled(1);
  }
}

} // namespace kw
