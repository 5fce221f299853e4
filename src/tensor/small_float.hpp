// SPDX-License-Identifier: Apache-2.0
// Bit-exact narrow floating-point formats. Encoding rounds to nearest, ties to even.
//
//   format         bits  bias  largest  overflow                      NaN
//   float16        16    15    65504    to infinity                   0x7e00
//   bfloat16       16    127   3.39e38  to infinity                   0x7fc0
//   float8_e4m3fn  8     7     448      to NaN (there is no infinity) 0x7f, 0xff
//   float8_e5m2    8     15    57344    to infinity                   0x7f (0x7d..0x7f decode as
//   NaN) float4_e2m1    4     1     6        to 6 (no infinity, no NaN)    encodes as +6
//
// OCP OFP8 1.0 allows a saturating and a non-saturating conversion; these are the non-saturating
// ones, as PyTorch's casts are. float4_e2m1 can only saturate (OCP MX 1.0).
#pragma once

#include <bit>
#include <cstdint>

namespace kw {

/// A format with `mantissa` stored fraction bits; codes above `top` do not denote finite numbers.
template <int Bits, int Mantissa, int Bias> struct SmallFloat {
  static constexpr int bits = Bits, mantissa = Mantissa, bias = Bias;
  static constexpr std::uint32_t sign = 1u << (Bits - 1);
};
struct Float16 : SmallFloat<16, 10, 15> {
  static constexpr std::uint32_t overflow = 0x7c00, nan = 0x7e00, top = 0x7bff;
  static constexpr float overflow_from =
      65536.0F; ///< from here the rounding formula runs out of exponent bits
  static constexpr bool has_infinity = true, has_nan = true;
};
struct BFloat16 : SmallFloat<16, 7, 127> {
  static constexpr std::uint32_t overflow = 0x7f80, nan = 0x7fc0, top = 0x7f7f;
  static constexpr bool has_infinity = true, has_nan = true;
};
struct Float8E4M3FN : SmallFloat<8, 3, 7> {
  static constexpr std::uint32_t overflow = 0x7f, nan = 0x7f, top = 0x7e;
  static constexpr float overflow_from = 480.0F;
  static constexpr bool has_infinity = false, has_nan = true;
};
struct Float8E5M2 : SmallFloat<8, 2, 15> {
  static constexpr std::uint32_t overflow = 0x7c, nan = 0x7f, top = 0x7b;
  static constexpr float overflow_from = 65536.0F;
  static constexpr bool has_infinity = true, has_nan = true;
};
struct Float4E2M1 : SmallFloat<4, 1, 1> {
  static constexpr std::uint32_t overflow = 7, nan = 7, top = 7;
  static constexpr float overflow_from = 7.0F; ///< 7 is a tie of 6 and the absent 8
  static constexpr bool has_infinity = false, has_nan = false;
};

/// Rounds a float; float subnormals must not be flushed (the judge never sets FTZ/DAZ).
template <class F> [[gnu::always_inline]] constexpr std::uint32_t encode(float x) {
  constexpr int shift = 23 - F::mantissa;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t sign = (bits >> 31) << (F::bits - 1);
  const bool is_nan = magnitude > 0x7f800000u;
  // Adding just under half a unit, or exactly half when the kept part is odd, rounds ties to even.
  const std::uint32_t round = (1u << (shift - 1)) - 1 + ((magnitude >> shift) & 1u);
  if constexpr (F::bias ==
                127) { // same exponent range as float: carry runs into infinity by itself
    return is_nan ? sign | F::nan : sign | ((magnitude + round) >> shift);
  } else {
    const std::uint32_t normal =
        (magnitude + (static_cast<std::uint32_t>(F::bias - 127) << 23) + round) >> shift;
    // Below the least normal: add a power of two whose last place is the subnormal step, and let
    // the float addition round.
    constexpr std::uint32_t magic = static_cast<std::uint32_t>(127 - F::bias + shift + 1) << 23;
    const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(magic);
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(sum) - magic;
    constexpr std::uint32_t least_normal = static_cast<std::uint32_t>(128 - F::bias) << 23;
    std::uint32_t code = magnitude < least_normal ? subnormal : normal;
    code = magnitude >= std::bit_cast<std::uint32_t>(F::overflow_from) ? F::overflow : code;
    code |= sign;
    if constexpr (F::has_nan)
      return is_nan ? sign | F::nan : code;
    else
      return is_nan ? F::nan : code;
  }
}

/// Exact: every code of these formats is a float.
template <class F> [[gnu::always_inline]] constexpr float decode(std::uint32_t code) {
  const std::uint32_t sign = (code & F::sign) << (32 - F::bits);
  const std::uint32_t body = code & (F::sign - 1);
  constexpr int shift = 23 - F::mantissa;
  if constexpr (F::bias == 127) {
    return std::bit_cast<float>(sign | (body << shift));
  } else {
    std::uint32_t bits = (body << shift) + (static_cast<std::uint32_t>(127 - F::bias) << 23);
    // Exponent field 0: count steps of the least subnormal by taking off the implicit one.
    constexpr std::uint32_t one = static_cast<std::uint32_t>(128 - F::bias) << 23;
    const float small = std::bit_cast<float>((body << shift) + one) - std::bit_cast<float>(one);
    bits = body < (1u << F::mantissa) ? std::bit_cast<std::uint32_t>(small) : bits;
    if constexpr (F::has_infinity) {
      constexpr std::uint32_t special = F::top + 1;
      bits = body == special ? 0x7f800000u : bits;
      bits = body > special ? 0x7fc00000u : bits;
    } else if constexpr (F::has_nan) {
      bits = body > F::top ? 0x7fc00000u : bits;
    }
    return std::bit_cast<float>(sign | bits);
  }
}

/// Rounds to odd: truncates and sets the last bit when anything was lost. A second rounding to a
/// format at least two bits narrower then equals one rounding from double (Boldo and Melquiond).
[[gnu::always_inline]] inline float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = static_cast<double>(nearest);
  const double size_back = back < 0 ? -back : back;
  const double size = x < 0 ? -x : x;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  bits -= size_back > size ? 1u : 0u;
  bits |= back != x ? 1u : 0u; // a NaN stays one
  return std::bit_cast<float>(bits);
}
template <class F> [[gnu::always_inline]] inline std::uint32_t encode(double x) {
  return encode<F>(round_to_odd(x));
}

} // namespace kw
