// SPDX-License-Identifier: Apache-2.0
#include "tensor/convert.hpp"

#include "tensor/simd.hpp"
#include "tensor/small_float.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace kw {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The value of a code from the definition of the format, by another route than decode().
template <class F> double by_definition(std::uint32_t code) {
  const std::uint32_t body = code & (F::sign - 1);
  const double sign = code & F::sign ? -1 : 1;
  const int exponent = static_cast<int>(body >> F::mantissa);
  const double fraction = std::ldexp(body & ((1u << F::mantissa) - 1), -F::mantissa);
  if (F::has_infinity && body == F::top + 1)
    return sign * inf;
  if (F::has_nan && body > F::top)
    return nan;
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - F::bias)
                       : sign * std::ldexp(1 + fraction, exponent - F::bias);
}

template <class F> void expect_every_code_decodes() {
  for (std::uint32_t code = 0; code < (1u << F::bits); ++code) {
    const double want = by_definition<F>(code);
    const double got = static_cast<double>(decode<F>(code));
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << code;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(want), std::bit_cast<std::uint64_t>(got)) << code;
      ASSERT_EQ(encode<F>(got), code);
      ASSERT_EQ(encode<F>(static_cast<float>(got)), code);
    }
  }
}

/// Between every two neighbouring codes: the midpoint goes to the even code, and the doubles just
/// beside the midpoint (far closer than a float could say) to their own side.
template <class F> void expect_every_tie_rounds_to_even() {
  for (std::uint32_t code = 0; code < F::top; ++code) {
    const double low = by_definition<F>(code);
    const double high = by_definition<F>(code + 1);
    const double middle = low + (high - low) / 2;
    const std::uint32_t even = code & 1 ? code + 1 : code;
    ASSERT_EQ(encode<F>(middle), even) << code;
    ASSERT_EQ(encode<F>(std::nextafter(middle, -inf)), code) << code;
    ASSERT_EQ(encode<F>(std::nextafter(middle, inf)), code + 1) << code;
    ASSERT_EQ(encode<F>(-middle), even | F::sign) << code;
    ASSERT_EQ(encode<F>(-std::nextafter(middle, -inf)), code | F::sign) << code;
    ASSERT_EQ(encode<F>(-std::nextafter(middle, inf)), (code + 1) | F::sign) << code;
  }
}

TEST(SmallFloat, EveryCodeDecodesToItsDefinitionAndBack) {
  expect_every_code_decodes<Float16>();
  expect_every_code_decodes<BFloat16>();
  expect_every_code_decodes<Float8E4M3FN>();
  expect_every_code_decodes<Float8E5M2>();
  expect_every_code_decodes<Float4E2M1>();
}

TEST(SmallFloat, TiesGoToEvenWithoutDoubleRounding) {
  expect_every_tie_rounds_to_even<Float16>();
  expect_every_tie_rounds_to_even<BFloat16>();
  expect_every_tie_rounds_to_even<Float8E4M3FN>();
  expect_every_tie_rounds_to_even<Float8E5M2>();
  expect_every_tie_rounds_to_even<Float4E2M1>();
}

TEST(SmallFloat, OverflowFollowsTheFormat) {
  EXPECT_EQ(encode<Float16>(65519.999), 0x7bffu);
  EXPECT_EQ(encode<Float16>(65520.0), 0x7c00u);
  EXPECT_EQ(encode<Float16>(-1e300), 0xfc00u);
  EXPECT_EQ(encode<BFloat16>(1e300), 0x7f80u);
  EXPECT_EQ(encode<BFloat16>(0x1.fep127), 0x7f7fu);
  EXPECT_EQ(encode<BFloat16>(std::nextafter(0x1.ffp127, 0)), 0x7f7fu);
  EXPECT_EQ(encode<BFloat16>(0x1.ffp127), 0x7f80u);
  EXPECT_EQ(encode<Float8E4M3FN>(464.0), 0x7eu) << "a tie of 448 and the absent 480";
  EXPECT_EQ(encode<Float8E4M3FN>(std::nextafter(464.0, 500)), 0x7fu);
  EXPECT_EQ(encode<Float8E4M3FN>(-1e10), 0xffu);
  EXPECT_EQ(encode<Float8E4M3FN>(inf), 0x7fu);
  EXPECT_EQ(encode<Float8E5M2>(61439.0), 0x7bu);
  EXPECT_EQ(encode<Float8E5M2>(61440.0), 0x7cu);
  EXPECT_EQ(encode<Float8E5M2>(-inf), 0xfcu);
  EXPECT_EQ(encode<Float4E2M1>(1e10), 7u);
  EXPECT_EQ(encode<Float4E2M1>(-inf), 15u);
  EXPECT_EQ(encode<Float4E2M1>(nan), 7u);
  for (const double x : {nan, -nan}) {
    EXPECT_TRUE(std::isnan(decode<Float16>(encode<Float16>(x))));
    EXPECT_TRUE(std::isnan(decode<BFloat16>(encode<BFloat16>(x))));
    EXPECT_TRUE(std::isnan(decode<Float8E4M3FN>(encode<Float8E4M3FN>(x))));
    EXPECT_TRUE(std::isnan(decode<Float8E5M2>(encode<Float8E5M2>(x))));
  }
}

TEST(SmallFloat, SubnormalsAndZerosKeepTheirSign) {
  EXPECT_EQ(encode<Float16>(0x1p-25), 0u) << "tie to even zero";
  EXPECT_EQ(encode<Float16>(std::nextafter(0x1p-25, 1)), 1u);
  EXPECT_EQ(encode<Float16>(-0x1p-1074), 0x8000u);
  EXPECT_EQ(encode<BFloat16>(0x1p-134), 0u);
  EXPECT_EQ(encode<BFloat16>(0x1.8p-133), 2u);
  EXPECT_EQ(encode<Float8E4M3FN>(-0.0), 0x80u);
}

#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
TEST(SmallFloat, Float16AgreesWithTheCompiler) {
  for (std::uint32_t code = 0; code < 65536; ++code) {
    const auto half = std::bit_cast<_Float16>(static_cast<std::uint16_t>(code));
    const double want = static_cast<double>(half);
    const double got = static_cast<double>(decode<Float16>(code));
    ASSERT_TRUE(want == got || (std::isnan(want) && std::isnan(got))) << code;
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    // Random fraction bits, exponents around and beyond the float16 range.
    const std::uint64_t bits = (random() & 0x800fffffffffffffu) | ((990 + random() % 52) << 52);
    const double x = std::bit_cast<double>(bits);
    const auto want = std::bit_cast<std::uint16_t>(static_cast<_Float16>(x));
    ASSERT_EQ(encode<Float16>(x), want) << x;
    const float f = static_cast<float>(x);
    ASSERT_EQ(encode<Float16>(f), std::bit_cast<std::uint16_t>(static_cast<_Float16>(f))) << f;
  }
}
#endif

TEST(Convert, DoubleRoundingIsAvoided) {
  // 1 + 2^-8 + 2^-40: a float drops the last term, leaving a bfloat16 tie that goes down.
  const double x = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(encode<BFloat16>(static_cast<float>(x)), 0x3f80u);
  EXPECT_EQ(encode<BFloat16>(x), 0x3f81u);
  EXPECT_EQ(round_to(DType::bfloat16, x), 1 + 0x1p-7);
}

/// Random doubles of every class through every dtype: bulk equals scalar, in every variant.
TEST(Convert, BulkEqualsScalar) {
  std::mt19937_64 random(11);
  std::vector<double> values(1003);
  for (double& x : values)
    x = std::bit_cast<double>((random() & 0x800fffffffffffffu) | ((860 + random() % 330) << 52));
  values[3] = nan, values[4] = inf, values[5] = -inf, values[6] = -0.0, values[7] = 0x1p-149;
  for (int t = 0; t <= static_cast<int>(DType::boolean); ++t) {
    const auto dtype = static_cast<DType>(t);
    std::vector<std::byte> bytes(byte_size(dtype, 1003));
    from_double(dtype, values, bytes);
    std::vector<double> back(values.size());
    to_double(dtype, bytes, back);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double want = round_to(dtype, values[i]);
      ASSERT_TRUE(back[i] == want || (std::isnan(back[i]) && std::isnan(want)))
          << name(dtype) << " " << i << " " << values[i] << " " << back[i] << " " << want;
      ASSERT_TRUE(element(dtype, bytes, i) == back[i] || std::isnan(back[i]));
    }
    if (dtype == DType::bfloat16) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t code = 0;
        std::memcpy(&code, bytes.data() + 2 * i, 2);
        ASSERT_EQ(code, encode<BFloat16>(values[i]));
      }
    }
  }
}

TEST(Convert, IntegersRoundAndSaturate) {
  EXPECT_EQ(round_to(DType::int8, 2.5), 2);
  EXPECT_EQ(round_to(DType::int8, 3.5), 4);
  EXPECT_EQ(round_to(DType::int8, 1000), 127);
  EXPECT_EQ(round_to(DType::int8, -1000), -128);
  EXPECT_EQ(round_to(DType::int32, nan), 0);
  EXPECT_EQ(round_to(DType::int64, 1e30), 0x1p63);
  EXPECT_EQ(round_to(DType::int64, -1e30), -0x1p63);
  EXPECT_EQ(round_to(DType::int16, -3), -3);
  EXPECT_EQ(round_to(DType::boolean, -2.0), 1);
  EXPECT_EQ(round_to(DType::boolean, -0.0), 0);
}

TEST(Convert, LowNibbleComesFirst) {
  const std::array<double, 3> values{1.0, -6.0, 0.5};
  std::array<std::byte, 2> bytes{};
  from_double(DType::float4_e2m1, values, bytes);
  EXPECT_EQ(bytes[0], std::byte{0xf2});
  EXPECT_EQ(bytes[1], std::byte{0x01});
}

TEST(Convert, LimitsDescribeTheFormats) {
  for (const DType t : {DType::float32, DType::float16, DType::bfloat16, DType::float8_e4m3fn,
                        DType::float8_e5m2, DType::float4_e2m1}) {
    EXPECT_EQ(round_to(t, max_finite(t)), max_finite(t)) << name(t);
    EXPECT_EQ(round_to(t, min_subnormal(t)), min_subnormal(t)) << name(t);
    EXPECT_EQ(round_to(t, min_subnormal(t) * 0.49), 0) << name(t);
    EXPECT_EQ(round_to(t, min_normal(t)), min_normal(t)) << name(t);
    if (std::isfinite(overflow_threshold(t))) {
      EXPECT_EQ(round_to(t, std::nextafter(overflow_threshold(t), 0)), max_finite(t)) << name(t);
      EXPECT_FALSE(std::isfinite(round_to(t, std::nextafter(overflow_threshold(t), inf))));
    }
  }
}

} // namespace
} // namespace kw
