// SPDX-License-Identifier: Apache-2.0
#include "stats/goodness.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace kw {
namespace {

/// Printed quantiles of the chi-square distribution (Abramowitz and Stegun, table 26.8).
TEST(ChiSquare, TailAsTabulated) {
  EXPECT_NEAR(chi_square_tail(3.84146, 1), 0.05, 1e-6);
  EXPECT_NEAR(chi_square_tail(10.8276, 1), 0.001, 1e-7);
  EXPECT_NEAR(chi_square_tail(18.3070, 10), 0.05, 1e-6);
  EXPECT_NEAR(chi_square_tail(2.15585, 10), 0.995, 1e-6);
  EXPECT_NEAR(chi_square_tail(149.449, 100), 0.001, 1e-7);
  EXPECT_NEAR(chi_square_tail(2, 2), std::exp(-1.0), 1e-14);
  EXPECT_NEAR(chi_square_tail(600, 2) / std::exp(-300.0), 1, 1e-10) << "far out";
  EXPECT_EQ(chi_square_tail(0, 3), 1);
}

TEST(GTest, CountsAsExpectedAndNot) {
  const std::vector<double> even(4, 0.25);
  EXPECT_EQ(g_test(std::vector<std::uint64_t>{25, 25, 25, 25}, even).p, 1);
  // 2 (10 ln .4 + 20 ln .8 + 30 ln 1.2 + 40 ln 1.6) = 21.2881, corrected by 1 + 15/1800.
  const GTest off = g_test(std::vector<std::uint64_t>{10, 20, 30, 40}, even);
  EXPECT_NEAR(off.g, 21.2881 / (1 + 15.0 / 1800), 1e-3);
  EXPECT_EQ(off.dof, 3);
  EXPECT_LT(off.p, 1e-4);
  EXPECT_LT(g_test(std::vector<std::uint64_t>{0, 50, 25, 25}, even).p, 1e-9);
}

TEST(GTest, TooFewCountsAreNoAnswer) {
  const GTest few = g_test(std::vector<std::uint64_t>{9, 0}, std::vector<double>{0.5, 0.5});
  EXPECT_EQ(few.dof, 0);
  EXPECT_EQ(few.p, 1);
}

/// p-values of true hypotheses are uniform: this is what a false alarm's rate rests on.
TEST(GTest, FalseAlarmsAreAsRareAsStated) {
  std::mt19937_64 random(5);
  const std::vector<double> shares(32, 1.0 / 32);
  int below_5 = 0, below_01 = 0;
  constexpr int campaigns = 4000;
  for (int c = 0; c < campaigns; ++c) {
    std::vector<std::uint64_t> counts(32, 0);
    for (int i = 0; i < 400; ++i)
      ++counts[random() % 32];
    const double p = g_test(counts, shares).p;
    below_5 += p < 0.05;
    below_01 += p < 0.001;
  }
  EXPECT_NEAR(below_5, campaigns * 0.05, 5 * std::sqrt(campaigns * 0.05));
  EXPECT_LE(below_01, 4 + 5 * 2);
}

TEST(AtLeast, BoundsTheTailOfACount) {
  EXPECT_EQ(at_least_bound(3, 5), 1);
  EXPECT_EQ(at_least_bound(1, 0), 0);
  // Poisson(1): P(X >= 10) = 1.11e-7; the bound lies above it, not far.
  EXPECT_GT(at_least_bound(10, 1), 1.11e-7);
  EXPECT_LT(at_least_bound(10, 1), 1e-5);
}

} // namespace
} // namespace kw
