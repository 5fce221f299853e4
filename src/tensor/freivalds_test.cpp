// SPDX-License-Identifier: Apache-2.0
#include "tensor/freivalds.hpp"

#include "tensor/convert.hpp"
#include "tensor/random.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <vector>

namespace kw {
namespace {

const Seed seed{42};
constexpr double sigma = 64; // of the products: reduction length 4096 of standard normals
constexpr double magnitude = 4096 * 0.6366; // sum of |a||b|

/// A product as an oracle and an honest kernel would leave it; the true C is never kept whole.
struct Product {
  std::int64_t rows, cols;
  DType dtype;
  FreivaldsSigns signs;
  std::vector<std::byte> y;
  std::vector<double> yx, magx;

  /// `error(c, j)`: what the kernel adds to the true value before storing it.
  template <class Error>
  Product(std::int64_t rows_, std::int64_t cols_, DType t, std::uint64_t trial, Error error)
      : rows(rows_), cols(cols_), dtype(t), signs(FreivaldsSigns::of(cols, seed, trial)),
        y(byte_size(t, rows * cols)) {
    const auto n = static_cast<std::size_t>(cols), r = static_cast<std::size_t>(signs.blocks);
    std::vector<float> z((n + 255) / 256 * 256);
    std::vector<double> c(n);
    for (std::int64_t row = 0; row < rows; ++row) {
      random_normals(RandomStream::of(seed, trial, static_cast<std::uint32_t>(row)), 0, z);
      std::vector<double> sum(r);
      for (std::size_t j = 0; j < n; ++j) {
        c[j] = sigma * static_cast<double>(z[j]);
        sum[j / 64] += signs.sign[j] * c[j];
        c[j] += error(c[j], j);
      }
      yx.insert(yx.end(), sum.begin(), sum.end());
      for (std::size_t b = 0; b < r; ++b)
        magx.push_back(magnitude * static_cast<double>(std::min<std::size_t>(64, n - 64 * b)));
      from_double(t, c, std::span(y).subspan(byte_size(t, row * cols)));
    }
  }
  [[nodiscard]] FreivaldsResult check(double alpha = 1e-9) const {
    FreivaldsBound bound;
    bound.u_out = unit_roundoff(dtype), bound.u_acc = 0x1p-24, bound.alpha = alpha;
    return *check_projection(project_blocks(dtype, y, rows, cols, signs), yx, magx, signs.blocks,
                             bound);
  }
  void set(std::int64_t row, std::int64_t col, double value) {
    from_double(dtype, std::span(&value, 1),
                std::span(y).subspan(byte_size(dtype, row * cols + col)));
  }
  [[nodiscard]] double get(std::int64_t row, std::int64_t col) const {
    return element(dtype, y, static_cast<std::size_t>(row * cols + col));
  }
};
const auto honest = [](double, std::size_t) { return 0.0; };

TEST(Freivalds, FindsOneWrongElementInSixteenMillion) {
  Product p(4096, 4096, DType::bfloat16, 1, honest);
  ASSERT_EQ(p.check().bad, 0U);
  EXPECT_EQ(p.check().checks, 4096U * 64);
  int tried = 0;
  for (std::int64_t row = 17; row < 4096 && tried < 5; row += 811) {
    std::int64_t col = (row * 37) % 4000;
    while (std::abs(p.get(row, col)) < sigma) // an element of ordinary size or larger
      ++col;
    const double right = p.get(row, col);
    p.set(row, col, right * 1.5);
    const FreivaldsResult r = p.check();
    EXPECT_EQ(r.bad, 1U) << row << ' ' << col;
    EXPECT_EQ(r.row, row);
    EXPECT_EQ(r.column, col / 64 * 64);
    EXPECT_GT(r.worst, 1);
    p.set(row, col, right);
    ++tried;
  }
  EXPECT_EQ(tried, 5);
}

TEST(Freivalds, HonestRoundingNeverAlarms) {
  double worst = 0;
  for (std::uint64_t trial = 0; trial < 60; ++trial)
    for (const DType t : {DType::bfloat16, DType::float16, DType::float32, DType::float8_e4m3fn}) {
      const FreivaldsResult r = Product(100, 700, t, trial, honest).check();
      EXPECT_EQ(r.bad, 0U) << name(t) << ' ' << trial;
      worst = std::max(worst, r.worst);
    }
  EXPECT_GT(worst, 0.05) << "the bound is not vacuous";
}

/// Errors at the edge of the contract in every element, the worst distribution there is: with a
/// lowered level the test must alarm no more often than the level, and it must be able to.
TEST(Freivalds, FalseAlarmsStayBelowTheLevelAtTheEdge) {
  const auto edge = [](double c, std::size_t) {
    return 0.97 * 0x1p-24 * std::abs(c) + 0.97 * 8 * 0x1p-24 * magnitude;
  };
  std::uint64_t alarms = 0;
  for (std::uint64_t trial = 0; trial < 40; ++trial)
    alarms += Product(50, 640, DType::float64, trial, edge).check(1e-9).bad;
  EXPECT_EQ(alarms, 0U);
}

TEST(Freivalds, WrongPrecisionIsSeenInFloat32) {
  // Products rounded to bfloat16 before they are stored as float32.
  const auto coarse = [](double c, std::size_t) { return round_to(DType::bfloat16, c) - c; };
  EXPECT_GT(Product(64, 640, DType::float32, 3, coarse).check().bad, 0U);
}

TEST(Freivalds, ConstantZeroAndPartialOutputsFail) {
  Product p(64, 640, DType::bfloat16, 4, honest);
  std::fill(p.y.begin(), p.y.end(), std::byte{0});
  EXPECT_GT(p.check().bad, 600U);
  Product q(64, 640, DType::bfloat16, 4, honest);
  for (std::int64_t col = 0; col < 640; ++col)
    q.set(63, col, 0);
  EXPECT_EQ(q.check().row, 63);
}

TEST(Freivalds, NonFiniteAndHugeElementsFail) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double x : {inf, -inf, std::numeric_limits<double>::quiet_NaN(), 1e38, -1e10}) {
    Product p(8, 200, DType::bfloat16, 5, honest);
    p.set(3, 199, x);
    const FreivaldsResult r = p.check();
    EXPECT_EQ(r.bad, 1U) << x;
    EXPECT_EQ(r.row, 3);
    EXPECT_EQ(r.column, 192) << "the short last block";
    EXPECT_GT(r.worst, 1);
  }
}

TEST(Freivalds, NonFiniteOracleFails) {
  Product p(8, 200, DType::bfloat16, 5, honest);
  p.magx[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(p.check().bad, 1U);
}

TEST(Freivalds, RefusesFormatsThatAreTooCoarse) {
  Product p(2, 64, DType::float8_e5m2, 0, honest);
  FreivaldsBound bound;
  bound.u_out = unit_roundoff(DType::float8_e5m2), bound.u_acc = 0x1p-24;
  const auto r =
      check_projection(project_blocks(p.dtype, p.y, 2, 64, p.signs), p.yx, p.magx, 1, bound);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().kind, ErrorKind::unsupported);
}

TEST(FreivaldsSigns, AreFairAndSecret) {
  const FreivaldsSigns a = FreivaldsSigns::of(100'000, seed, 1);
  double sum = 0, lag = 0;
  for (std::size_t j = 0; j < a.sign.size(); ++j)
    sum += a.sign[j], lag += a.sign[j] * a.sign[(j + 1) % a.sign.size()];
  EXPECT_LT(std::abs(sum), 5 * std::sqrt(1e5));
  EXPECT_LT(std::abs(lag), 5 * std::sqrt(1e5));
  EXPECT_NE(a.sign, FreivaldsSigns::of(100'000, seed, 2).sign);
  EXPECT_EQ(a.sign, FreivaldsSigns::of(100'000, seed, 1).sign);
}

TEST(FreivaldsSigns, MatrixHasOneSignPerColumn) {
  const FreivaldsSigns s = FreivaldsSigns::of(130, seed, 1);
  ASSERT_EQ(s.blocks, 3);
  const std::vector<double> x = s.matrix();
  ASSERT_EQ(x.size(), 390U);
  for (std::size_t j = 0; j < 130; ++j)
    for (std::size_t b = 0; b < 3; ++b)
      EXPECT_EQ(x[j * 3 + b], j / 64 == b ? s.sign[j] : 0);
}

TEST(ExactPositions, AreDistinctSortedAndSeeded) {
  const auto rows = exact_positions(4096, 64, seed, 1, 0);
  EXPECT_EQ(rows.size(), 64U);
  EXPECT_EQ(rows.front(), 0);
  EXPECT_EQ(rows.back(), 4095);
  EXPECT_EQ(std::set<std::int64_t>(rows.begin(), rows.end()).size(), 64U);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  EXPECT_NE(rows, exact_positions(4096, 64, seed, 1, 1));
  EXPECT_NE(rows, exact_positions(4096, 64, seed, 2, 0));
  EXPECT_EQ(rows, exact_positions(4096, 64, seed, 1, 0));
  EXPECT_EQ(exact_positions(5, 64, seed, 1, 0), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(exact_positions(65, 64, seed, 1, 0).size(), 64U);
  EXPECT_TRUE(exact_positions(0, 64, seed, 1, 0).empty());
}

TEST(Gather, TakesTheSubMatrix) {
  std::vector<double> values(12);
  for (std::size_t i = 0; i < 12; ++i)
    values[i] = static_cast<double>(i);
  std::vector<std::byte> y(24);
  from_double(DType::bfloat16, values, y);
  const std::vector<std::int64_t> rows{0, 2}, cols{1, 3};
  std::vector<double> got(4);
  to_double(DType::bfloat16, gather(DType::bfloat16, y, 4, rows, cols), got);
  EXPECT_EQ(got, (std::vector<double>{1, 3, 9, 11}));
}

} // namespace
} // namespace kw
