// SPDX-License-Identifier: Apache-2.0
#include "tensor/error_units.hpp"

#include "tensor/convert.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace kw {
namespace {

constexpr double u = 0x1p-24;

ErrorUnits units(DType t, const std::vector<double>& got, const std::vector<double>& want,
                 const std::vector<double>& magnitude = {}, std::int64_t row = 4) {
  std::vector<std::byte> stored(byte_size(t, static_cast<std::int64_t>(got.size())));
  from_double(t, got, stored);
  ErrorUnits e;
  e.add(t, stored, want, magnitude, u, row);
  return e;
}

TEST(ErrorUnits, OfARoundedResultAreBelowOne) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> x(4000);
  for (double& v : x)
    v = normal(random);
  for (const DType t : {DType::float32, DType::float16, DType::bfloat16, DType::float8_e4m3fn}) {
    const ErrorUnits e = units(t, x, x, {}, 1);
    EXPECT_LE(e.max, 1) << name(t);
    EXPECT_NEAR(e.rms(), 0.42, 0.05) << name(t);
    EXPECT_EQ(e.inexact, 0U);
    EXPECT_EQ(e.beyond_rounding, 0U);
    EXPECT_EQ(e.elements, 4000U);
  }
}

TEST(ErrorUnits, CountMagnitudesOrElseTheRow) {
  const std::vector<double> want{1, 0, 1, 1}, got{1 + 8 * u, 0, 1, 1};
  EXPECT_NEAR(units(DType::float64, {1 + 8 * 0x1p-53, 0, 1, 1}, want, {0, 0, 0, 0}).max, 8, 0.01);
  EXPECT_NEAR(units(DType::float32, got, want, {0, 0, 0, 0}).max, 8, 0.01);
  EXPECT_NEAR(units(DType::float32, got, want, {3, 3, 3, 3}).max, 2, 0.01);
  EXPECT_NEAR(units(DType::float32, got, want).max, 8, 0.01);
  // Where the answer is zero by cancellation, the row's size counts.
  EXPECT_NEAR(units(DType::float32, {2, 4 * u, 2, 2}, {2, 0, 2, 2}).max, 4 / std::sqrt(3), 0.01);
  EXPECT_NEAR(units(DType::float32, got, want).rms(), 4, 0.01);
}

TEST(ErrorUnits, TellInexactFromWrongDigits) {
  const ErrorUnits e =
      units(DType::float32, {1 + 2 * u, 1000, 1000 * (1 + 8 * u), 5}, {1, 1000, 1000, 5});
  EXPECT_EQ(e.inexact, 2U);
  EXPECT_EQ(e.beyond_rounding, 1U);
}

TEST(ErrorUnits, PoolAndSkipWhatIsNotFinite) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  ErrorUnits e = units(DType::float32, {inf, NAN, 1, 2}, {inf, NAN, 1, inf}, {1, 1, inf, 1});
  EXPECT_EQ(e.elements, 1U);
  EXPECT_EQ(e.rms(), 0);
  const std::vector<float> more{3};
  e.add(DType::float32, std::as_bytes(std::span(more)), std::vector<double>{3.0}, {}, u, 1);
  EXPECT_EQ(e.elements, 2U);
  EXPECT_EQ(ErrorUnits{}.rms(), 0);
}

} // namespace
} // namespace kw
