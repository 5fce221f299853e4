// SPDX-License-Identifier: Apache-2.0
#include "stats/robust.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace kw {
namespace {

using Sample = std::vector<double>;

TEST(Median, OddEvenEmpty) {
  EXPECT_EQ(median(Sample{3, 1, 2}), 2);
  EXPECT_EQ(median(Sample{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(Sample{7}), 7);
  EXPECT_TRUE(std::isnan(median(Sample{})));
}

TEST(Quantile, Interpolates) {
  const Sample x{10, 0, 20, 30, 40};
  EXPECT_EQ(quantile(x, 0), 0);
  EXPECT_EQ(quantile(x, 1), 40);
  EXPECT_EQ(quantile(x, 0.5), 20);
  EXPECT_EQ(quantile(x, 0.1), 4);
  EXPECT_EQ(quantile(Sample{5}, 0.9), 5);
}

TEST(MadSigma, IsSigmaForNormalsAndIgnoresSpikes) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(5, 2);
  Sample x(20'001);
  for (double& v : x)
    v = normal(random);
  EXPECT_NEAR(mad_sigma(x), 2, 0.06);
  for (std::size_t i = 0; i < 1000; ++i)
    x[i] = 1e9;
  EXPECT_NEAR(mad_sigma(x), 2, 0.25);
}

TEST(MedianInterval, KnownRanks) {
  Sample x(30);
  std::iota(x.begin(), x.end(), 1);
  const MedianInterval thirty = median_interval(x);
  EXPECT_EQ(thirty.low_rank, 10U);
  EXPECT_EQ(thirty.high_rank, 21U);
  EXPECT_EQ(thirty.low, 10);
  EXPECT_EQ(thirty.high, 21);
  EXPECT_EQ(thirty.median, 15.5);
  EXPECT_NEAR(thirty.coverage, 0.957, 5e-4);
  x.resize(20);
  const MedianInterval twenty = median_interval(x);
  EXPECT_EQ(twenty.low_rank, 6U);
  EXPECT_EQ(twenty.high_rank, 15U);
  EXPECT_NEAR(twenty.coverage, 0.959, 5e-4);
  x.resize(6);
  EXPECT_NEAR(median_interval(x).coverage, 0.96875, 1e-12);
  x.resize(5);
  EXPECT_NEAR(median_interval(x).coverage, 0.9375, 1e-12) << "the whole range, and it says so";
  x.resize(1);
  EXPECT_EQ(median_interval(x).low, 1);
  EXPECT_EQ(median_interval(x).coverage, 0);
  EXPECT_EQ(median_interval(Sample{}).coverage, 0);
}

TEST(MedianInterval, CoversAsOftenAsItSays) {
  std::mt19937_64 random(2);
  std::exponential_distribution<double> skewed(1);
  for (const std::size_t n : {7UL, 20UL, 101UL}) {
    int covered = 0;
    double coverage = 0;
    for (int run = 0; run < 4000; ++run) {
      Sample x(n);
      for (double& v : x)
        v = skewed(random);
      const MedianInterval i = median_interval(x);
      coverage = i.coverage;
      covered += i.low <= std::log(2.0) && std::log(2.0) <= i.high;
    }
    EXPECT_GE(coverage, 0.95);
    EXPECT_NEAR(covered / 4000.0, coverage, 0.015) << n;
  }
}

TEST(GeometricMean, OfValues) {
  EXPECT_NEAR(geometric_mean(Sample{2, 8}), 4, 1e-12);
  EXPECT_TRUE(std::isnan(geometric_mean(Sample{2, 0})));
  EXPECT_TRUE(std::isnan(geometric_mean(Sample{})));
}

std::vector<Sample> noisy_rounds(unsigned seed, std::size_t rounds) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<Sample> all(2, Sample(rounds));
  for (double& d : all[0])
    d = std::log(2.0) + noise(random);
  for (double& d : all[1])
    d = std::log(0.5) + noise(random);
  return all;
}

TEST(GeometricMean, OfPairedRounds) {
  const auto rounds = noisy_rounds(1, 40);
  const GeometricMean equal = geometric_mean(rounds, {}, 7);
  EXPECT_NEAR(equal.value, 1, 0.03);
  EXPECT_TRUE(equal.low < equal.value && equal.value < equal.high);
  EXPECT_LT(equal.high / equal.low, 1.06);
  const GeometricMean again = geometric_mean(rounds, {}, 7);
  EXPECT_EQ(equal.low, again.low) << "the seed decides";
  EXPECT_NE(equal.low, geometric_mean(rounds, {}, 8).low);
  EXPECT_NEAR(geometric_mean(rounds, Sample{1, 0}, 7).value, 2, 0.06);
  EXPECT_NEAR(geometric_mean(rounds, Sample{3, 1}, 7).value, std::sqrt(2.0), 0.05);
  const std::vector<Sample> missing{{}, {std::log(3.0)}};
  EXPECT_NEAR(geometric_mean(missing, {}, 7).value, 3, 1e-12);
  EXPECT_EQ(geometric_mean(std::vector<Sample>{}, {}, 7).value, 1);
}

TEST(GeometricMean, IntervalCovers) {
  int covered = 0;
  for (unsigned run = 0; run < 200; ++run) {
    const GeometricMean g = geometric_mean(noisy_rounds(run + 100, 30), {}, run, 0.95, 400);
    covered += g.low <= 1 && 1 <= g.high;
  }
  EXPECT_GT(covered, 178); // 0.95 less three standard errors of 200 runs
}

TEST(Spearman, RanksOnly) {
  EXPECT_NEAR(spearman(Sample{1, 2, 3, 4}, Sample{1, 8, 27, 64}), 1, 1e-12);
  EXPECT_NEAR(spearman(Sample{1, 2, 3, 4}, Sample{4, 3, 2, 1}), -1, 1e-12);
  EXPECT_EQ(spearman(Sample{1, 2, 3}, Sample{5, 5, 5}), 0);
  // Ranks 1 2.5 2.5 4 against 1 2 3 4: covariance 4.5, variances 4.5 and 5.
  EXPECT_NEAR(spearman(Sample{1, 2, 2, 3}, Sample{1, 2, 3, 4}), 4.5 / std::sqrt(22.5), 1e-12);
}

TEST(Spearman, PValue) {
  EXPECT_NEAR(spearman_p_value(0, 30), 1, 1e-12);
  EXPECT_NEAR(spearman_p_value(0.5, 20), 0.0248, 5e-4); // t = 2.449 with 18 degrees of freedom
  EXPECT_LT(spearman_p_value(-0.9, 30), 1e-8);
  EXPECT_EQ(spearman_p_value(0.9, 2), 1);
}

} // namespace
} // namespace kw
