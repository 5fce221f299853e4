// SPDX-License-Identifier: Apache-2.0
// The sampled check on a small product: every kind of wrong output must fail, the right one pass.
#include "judge/sampled.hpp"

#include "tensor/convert.hpp"
#include "tensor/random.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace kw {
namespace {

const Seed seed{7};
constexpr std::int64_t rows = 90, cols = 200, depth = 32;

std::vector<double> normals(std::uint32_t tensor, std::int64_t n) {
  std::vector<float> z(static_cast<std::size_t>((n + 255) / 256 * 256));
  random_normals(RandomStream::of(seed, 1, tensor), 0, z);
  return {z.begin(), z.begin() + n};
}

/// C = A B with its magnitudes, and what the oracle's two entries would return for it.
struct Product {
  BoundOutput output;
  std::vector<double> c, s;
  std::vector<std::byte> got;
  SampledExpectation expected;
  Bound bound;

  explicit Product(DType dtype, std::int64_t exact = 6) {
    output = {
        .name = "c", .dtype = dtype, .shape = {rows, cols}, .elements = rows * cols, .row = cols};
    output.bytes = byte_size(dtype, output.elements);
    bound = {.eta = 8, .u_out = unit_roundoff(dtype), .u_acc = unit_roundoff(DType::float32)};
    const std::vector<double> a = normals(0, rows * depth), b = normals(1, depth * cols);
    c.resize(static_cast<std::size_t>(output.elements));
    s.resize(c.size());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        for (std::int64_t k = 0; k < depth; ++k) {
          const double term = a[static_cast<std::size_t>(i * depth + k)] *
                              b[static_cast<std::size_t>(k * cols + j)];
          c[at(i, j)] += term;
          s[at(i, j)] += std::abs(term);
        }
    got.resize(output.bytes);
    from_double(dtype, c, got);
    const Extent e = extent(output);
    expected.signs = FreivaldsSigns::of(cols, seed, 1);
    expected.yx.resize(static_cast<std::size_t>(rows * e.blocks));
    expected.magx.resize(expected.yx.size());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) {
        const auto block = static_cast<std::size_t>(i * e.blocks + j / freivalds_block);
        expected.yx[block] += expected.signs.sign[static_cast<std::size_t>(j)] * c[at(i, j)];
        expected.magx[block] += s[at(i, j)];
      }
    expected.rows = exact_positions(rows, exact, seed, 1, 0);
    expected.cols = exact_positions(cols, exact, seed, 1, 1);
    for (const std::int64_t i : expected.rows)
      for (std::int64_t j = 0; j < cols; ++j)
        expected.row_y.push_back(c[at(i, j)]), expected.row_s.push_back(s[at(i, j)]);
    for (std::int64_t i = 0; i < rows; ++i)
      for (const std::int64_t j : expected.cols)
        expected.col_y.push_back(c[at(i, j)]), expected.col_s.push_back(s[at(i, j)]);
  }

  static std::size_t at(std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i * cols + j);
  }
  void store(std::int64_t i, std::int64_t j, double value) {
    const std::size_t width = byte_size(output.dtype, 1);
    from_double(output.dtype, std::span(&value, 1),
                std::span(got).subspan(at(i, j) * width, width));
  }
  [[nodiscard]] CompareResult check() const {
    return compare_sampled(output, got, expected, bound);
  }
  /// A row or column that is not among the exact ones, so that only the projection can see it.
  static std::int64_t hidden(const std::vector<std::int64_t>& exact) {
    std::int64_t position = 1;
    for (const std::int64_t e : exact)
      position += e == position ? 1 : 0;
    return position;
  }
  [[nodiscard]] std::int64_t hidden_row() const { return hidden(expected.rows); }
  [[nodiscard]] std::int64_t hidden_col() const { return hidden(expected.cols); }
};

TEST(Sampled, ExtentCountsRowsColumnsAndBlocks) {
  const Extent e = extent({.shape = {2, 3, 130}, .elements = 780, .row = 130});
  EXPECT_EQ(e.rows, 6);
  EXPECT_EQ(e.cols, 130);
  EXPECT_EQ(e.blocks, 3);
  EXPECT_EQ(extent({.shape = {4, 64}, .elements = 256, .row = 64}).blocks, 1);
  EXPECT_EQ(extent({.shape = {0}, .elements = 0, .row = 0}).rows, 0)
      << "no division by an empty axis";
}

TEST(Sampled, TheRoundedProductPasses) {
  for (const DType t : {DType::float32, DType::float16, DType::bfloat16}) {
    const CompareResult r = Product(t).check();
    EXPECT_EQ(r.bad, 0U) << name(t);
    EXPECT_EQ(r.elements, static_cast<std::uint64_t>(rows * cols));
    EXPECT_GT(r.max_eta, 0) << name(t) << ": the exact lines were compared";
    EXPECT_TRUE(r.pattern.empty());
  }
}

TEST(Sampled, OneWrongElementOnAnExactLineIsNamed) {
  Product p(DType::float32);
  const std::int64_t i = p.expected.rows[1], j = p.hidden_col();
  p.store(i, j, p.c[p.at(i, j)] + 1);
  const CompareResult r = p.check();
  EXPECT_GE(r.bad, 1U);
  EXPECT_EQ(r.first_bad, p.at(i, j));
  EXPECT_NEAR(r.got - r.want, 1, 1e-4);
}

TEST(Sampled, OneWrongElementOnAnExactColumnIsNamed) {
  Product p(DType::float32);
  const std::int64_t i = p.hidden_row(), j = p.expected.cols[2];
  p.store(i, j, p.c[p.at(i, j)] + 1);
  const CompareResult r = p.check();
  EXPECT_GE(r.bad, 1U);
  EXPECT_EQ(r.first_bad, p.at(i, j));
}

TEST(Sampled, OneWrongElementOffTheExactLinesFailsItsBlock) {
  Product p(DType::float32);
  const std::int64_t i = p.hidden_row(), j = 150;
  ASSERT_FALSE(std::count(p.expected.cols.begin(), p.expected.cols.end(), j))
      << "choose another column";
  p.store(i, j, p.c[p.at(i, j)] + 0.01);
  const CompareResult r = p.check();
  EXPECT_EQ(r.bad, 1U);
  EXPECT_EQ(r.first_bad, p.at(i, 128)) << "the first column of the block";
  EXPECT_NEAR(std::abs(r.got), 0.01, 1e-3) << "the residual";
  EXPECT_LT(r.bound, 0.01);
  EXPECT_NE(r.pattern.find("block"), std::string::npos);
}

TEST(Sampled, AWrongRowFails) {
  Product p(DType::float32);
  const std::int64_t i = p.hidden_row();
  for (std::int64_t j = 0; j < cols; ++j)
    p.store(i, j, p.c[p.at(i + 1, j)]);
  const CompareResult r = p.check();
  EXPECT_GE(r.bad, 4U) << "each block of the row";
  EXPECT_EQ(r.first_bad / static_cast<std::uint64_t>(cols), static_cast<std::uint64_t>(i));
}

TEST(Sampled, AWrongColumnFails) {
  Product p(DType::float32);
  const std::int64_t j = p.hidden_col();
  for (std::int64_t i = 0; i < rows; ++i)
    p.store(i, j, 0);
  EXPECT_GE(p.check().bad, static_cast<std::uint64_t>(rows) / 2);
}

TEST(Sampled, TheLastPartialBlockIsChecked) {
  Product p(DType::float32);
  const std::int64_t i = p.hidden_row(), j = cols - 2;
  ASSERT_FALSE(std::count(p.expected.cols.begin(), p.expected.cols.end(), j))
      << "choose another column";
  p.store(i, j, -p.c[p.at(i, j)]);
  EXPECT_EQ(p.check().bad, 1U);
}

TEST(Sampled, RoundingTheWholeProductTooCoarselyFails) {
  Product p(DType::float32);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      p.store(i, j, round_to(DType::bfloat16, p.c[p.at(i, j)]));
  EXPECT_GT(p.check().bad, 100U);
}

TEST(Sampled, ZerosAndNonFiniteOutputsFail) {
  Product p(DType::bfloat16);
  std::fill(p.got.begin(), p.got.end(), std::byte{0});
  EXPECT_GT(p.check().bad, 100U);
  Product q(DType::float32);
  q.store(q.hidden_row(), 150, std::numeric_limits<double>::quiet_NaN());
  EXPECT_GE(q.check().bad, 1U);
  Product inf(DType::float32);
  inf.store(inf.expected.rows[0], 10, std::numeric_limits<double>::infinity());
  const CompareResult r = inf.check();
  EXPECT_GE(r.bad, 1U);
  EXPECT_GE(r.class_mismatches, 1U);
}

/// Any output of which the oracle computes rows only.
Product rows_alone() {
  Product p(DType::float32);
  p.expected.signs = {};
  p.expected.cols.clear();
  return p;
}

TEST(SampledRows, RightRowsPassAndAWrongOneAmongThemIsNamed) {
  Product p = rows_alone();
  EXPECT_EQ(p.check().bad, 0U);
  EXPECT_GT(p.check().max_eta, 0);
  const std::int64_t i = p.expected.rows[2];
  p.store(i, 77, p.c[p.at(i, 77)] + 1);
  EXPECT_EQ(p.check().bad, 1U);
  EXPECT_EQ(p.check().first_bad, p.at(i, 77));
}

TEST(SampledRows, OtherRowsAreHeldToBeFiniteOnly) {
  Product p = rows_alone();
  p.store(p.hidden_row(), 3, 1e9);
  EXPECT_EQ(p.check().bad, 0U);
  p.store(p.hidden_row(), 5, std::numeric_limits<double>::quiet_NaN());
  const CompareResult r = p.check();
  EXPECT_EQ(r.bad, 1U);
  EXPECT_EQ(r.first_bad, p.at(p.hidden_row(), 5));
  EXPECT_NE(r.pattern.find("not finite"), std::string::npos);
}

TEST(SampledRows, EvidenceSaysWhatWouldHaveBeenSeen) {
  EXPECT_FALSE(row_evidence(Product(DType::float32).output, Product(DType::float32).expected));
  const Product p = rows_alone();
  std::optional<RowEvidence> sum;
  add(sum, std::nullopt);
  EXPECT_FALSE(sum);
  for (int trial = 0; trial < 3; ++trial)
    add(sum, row_evidence(p.output, p.expected));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->rows, 90U);
  EXPECT_EQ(sum->compared, 6U);
  EXPECT_EQ(sum->trials, 3U);
  // Four rows in each of three trials are drawn: all twelve miss the fault with 5 %.
  EXPECT_NEAR(std::pow(1 - sum->seen_share, 12), 0.05, 1e-12);
  EXPECT_NE(row_sentence(*sum).find("6 of 90 rows compared in each of 3 trials"),
            std::string::npos);
  const Product all(DType::float32, rows);
  SampledExpectation every = all.expected;
  every.signs = {};
  std::optional<RowEvidence> whole;
  add(whole, row_evidence(all.output, every));
  EXPECT_EQ(whole->seen_share, 0);
}

/// Simulated: how often rows drawn as the judge draws them miss a fault of the stated share.
TEST(SampledRows, TheStatedProbabilityHolds) {
  constexpr std::int64_t many = 14107, compared = 128;
  RowEvidence one;
  one.rows = many, one.compared = compared, one.trials = 1;
  std::optional<RowEvidence> sum;
  add(sum, one);
  const auto wrong = static_cast<std::int64_t>(std::ceil(sum->seen_share * many));
  constexpr int campaigns = 2000;
  int missed = 0;
  for (int n = 0; n < campaigns; ++n) {
    // Any set of rows that the drawing does not depend on: here one in the middle.
    const std::vector<std::int64_t> at =
        exact_positions(many, compared, seed, static_cast<std::uint64_t>(n), 0);
    missed += std::ranges::none_of(
        at, [&](std::int64_t row) { return row >= 5000 && row < 5000 + wrong; });
  }
  EXPECT_LT(missed, campaigns * 0.07) << "5 % and three standard deviations";
  EXPECT_GT(missed, campaigns * 0.03);
}

BoundWorkload workload_of(DType dtype) {
  BoundWorkload w;
  w.outputs.push_back(Product(dtype).output);
  return w;
}

TEST(SampledRows, AreForOneOutputWithOneRightAnswer) {
  Oracle parts;
  EXPECT_FALSE(can_sample(workload_of(DType::float32), parts));
  parts.block_entry = 1;
  EXPECT_TRUE(can_sample(workload_of(DType::float8_e5m2), parts));
  parts.project_entry = 2;
  EXPECT_TRUE(can_sample(workload_of(DType::bfloat16), parts));
  EXPECT_FALSE(can_sample(workload_of(DType::float8_e5m2), parts)) << "too coarse to project";
  BoundWorkload two = workload_of(DType::float32);
  two.outputs.push_back(two.outputs[0]);
  EXPECT_FALSE(can_sample(two, parts));
  BoundWorkload exact = workload_of(DType::float32);
  exact.outputs[0].tolerance.exact = true;
  EXPECT_FALSE(can_sample(exact, parts));
}

} // namespace
} // namespace kw
