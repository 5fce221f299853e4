// SPDX-License-Identifier: Apache-2.0
#include "tensor/error_regions.hpp"

#include "tensor/convert.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace kw {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<std::byte> stored(DType t, const std::vector<double>& x) {
  std::vector<std::byte> out(byte_size(t, static_cast<std::int64_t>(x.size())));
  from_double(t, x, out);
  return out;
}

TEST(ErrorRegions, FindTheWorstRowAndTile) {
  const std::size_t rows = 37, columns = 50;
  std::vector<double> want(rows * columns, 2);
  std::vector<double> got = want;
  got[20 * columns + 33] = 2.5; // small rows count as much as large ones
  for (std::size_t c = 0; c < columns; ++c) {
    want[36 * columns + c] = got[36 * columns + c] = 1e-6;
  }
  got[36 * columns + 48] = 2e-6;
  const ErrorRegions r = error_regions(DType::float64, stored(DType::float64, got), want, 50);
  EXPECT_EQ(r.worst_row, 36U);
  EXPECT_NEAR(r.worst_row_error, 1 / std::sqrt(50), 1e-9);
  EXPECT_EQ(r.worst_tile_row, 16U) << "in the last tile the large rows above weigh more";
  EXPECT_EQ(r.worst_tile_column, 32U);
  EXPECT_NEAR(r.worst_tile_error, 0.5 / (2 * 16), 1e-9);
  EXPECT_NEAR(r.relative, 0.5 / (2 * std::sqrt(36 * 50)), 1e-6);
}

TEST(ErrorRegions, TheLastPartialTileCounts) {
  std::vector<double> want(20 * 20, 1), got = want;
  got[19 * 20 + 19] = 3;
  const ErrorRegions r = error_regions(DType::float32, stored(DType::float32, got), want, 20);
  EXPECT_EQ(r.worst_row, 19U);
  EXPECT_EQ(r.worst_tile_row, 16U);
  EXPECT_EQ(r.worst_tile_column, 16U);
  EXPECT_NEAR(r.worst_tile_error, 2.0 / 4, 1e-9);
}

TEST(ErrorRegions, NonFiniteAndZero) {
  EXPECT_EQ(error_regions(DType::float32, stored(DType::float32, {1, NAN}),
                          std::vector<double>{1.0, 2.0}, 2)
                .relative,
            inf);
  EXPECT_EQ(error_regions(DType::float32, stored(DType::float32, {NAN, inf}),
                          std::vector<double>{NAN, inf}, 2)
                .relative,
            0);
  EXPECT_EQ(error_regions(DType::float32, stored(DType::float32, {0, 1}),
                          std::vector<double>{0.0, 0.0}, 2)
                .relative,
            inf);
  EXPECT_EQ(error_regions(DType::float32, {}, {}, 4).relative, 0);
}

TEST(MaxUlp, CountsNumbersOfTheType) {
  for (const DType t : {DType::float64, DType::float32, DType::float16, DType::bfloat16,
                        DType::float8_e4m3fn, DType::float8_e5m2}) {
    const double step = 2 * unit_roundoff(t); // of [1, 2)
    EXPECT_EQ(max_ulp(t, stored(t, {1, -1, 1.5}), std::vector<double>{1.0, -1.0, 1.5}), 0)
        << name(t);
    EXPECT_EQ(max_ulp(t, stored(t, {1, -1 - step}), std::vector<double>{1.0, -1.0}), 1) << name(t);
    EXPECT_EQ(max_ulp(t, stored(t, {1 - step / 2}), std::vector<double>{1.0}), 1)
        << "one below a power";
    EXPECT_EQ(max_ulp(t, stored(t, {1 + 2 * step}), std::vector<double>{1 - step / 2}), 3)
        << name(t);
  }
  const double least = min_normal(DType::float32);
  EXPECT_EQ(max_ulp(DType::float32, stored(DType::float32, {-least}), std::vector<double>{least}),
            2.0 * (1 << 23))
      << "through zero";
  EXPECT_EQ(max_ulp(DType::float32, stored(DType::float32, {0, inf, 1, NAN}),
                    std::vector<double>{least / 4, 1.0, inf, NAN}),
            0)
      << "subnormal and non-finite numbers do not count";
  EXPECT_EQ(max_ulp(DType::int32, stored(DType::int32, {4}), std::vector<double>{7.0}), 0);
  EXPECT_EQ(max_ulp(DType::float4_e2m1, stored(DType::float4_e2m1, {4}), std::vector<double>{6.0}),
            0);
}

} // namespace
} // namespace kw
