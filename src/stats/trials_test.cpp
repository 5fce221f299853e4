// SPDX-License-Identifier: Apache-2.0
#include "stats/trials.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

namespace kw {
namespace {

TEST(Gates, SizesProveWhatTheyClaim) {
  EXPECT_EQ(gate_size("smoke")->trials, 5U);
  EXPECT_FALSE(gate_size("smoke")->evidence);
  EXPECT_EQ(gate_size("gate")->trials, trials_needed(0.05));
  EXPECT_EQ(gate_size("accept")->trials, trials_needed(0.01));
  EXPECT_EQ(gate_size("champion")->trials, trials_needed(0.01, 0.99));
  EXPECT_EQ(gate_size("champion")->mined, 64U);
  EXPECT_EQ(gate_size("accept")->mined, 0U);
  EXPECT_EQ(gate_size("accept")->mined_ranked, 64U);
  EXPECT_EQ(gate_size("gate")->mined_ranked, 0U);
  EXPECT_EQ(gate_size("500 each")->trials, 500U);
  EXPECT_TRUE(gate_size("500 each")->each);
  EXPECT_FALSE(gate_size("0 each"));
  EXPECT_FALSE(gate_size("5 each time"));
  const auto wrong = gate_size("golden");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().remedy.find("champion"), std::string::npos);
}

TEST(Bounds, MatchTheFormula) {
  EXPECT_EQ(failure_rate_bound(0), 1);
  EXPECT_NEAR(failure_rate_bound(59), 0.0495, 5e-5);
  EXPECT_NEAR(failure_rate_bound(299), 0.00997, 5e-6);
  EXPECT_NEAR(failure_rate_bound(1), 0.95, 1e-12);
  EXPECT_NEAR(failure_rate_bound(1'000'000), 3e-6, 1e-8);
  for (const double p : {0.5, 0.05, 0.015, 0.001}) {
    const std::uint64_t n = trials_needed(p);
    EXPECT_LE(failure_rate_bound(n), p);
    EXPECT_GT(failure_rate_bound(n - 1), p);
  }
  EXPECT_NEAR(miss_probability(0.015, 3), 0.956, 5e-4);
}

using Split = std::vector<std::uint64_t>;
Split split(std::uint64_t total, std::vector<double> w) {
  return allocate_trials(total, w);
}

TEST(Allocation, IsProportionalWithAtLeastOneEach) {
  EXPECT_EQ(split(59, {1}), (Split{59}));
  EXPECT_EQ(split(10, {1, 1, 1}), (Split{4, 3, 3}));
  EXPECT_EQ(split(100, {3, 1}), (Split{75, 25}));
  EXPECT_EQ(split(5, {1, 1, 1, 1, 1, 1, 1}), (Split(7, 1))) << "more workloads than trials";
  EXPECT_EQ(split(12, {1, 1, 1e-6, 1e-6, 1e-6, 1e-6}), (Split{4, 4, 1, 1, 1, 1}));
  EXPECT_EQ(split(9, {0, 0, 0}), (Split{3, 3, 3})) << "no usable weight";
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(split(9, {-1, inf, std::nan(""), 5}), (Split{1, 1, 1, 6}));
  EXPECT_EQ(split(9, {1e308, 1e308}), (Split{5, 4}));
  EXPECT_TRUE(split(9, {}).empty());
}

TEST(Allocation, AlwaysSumsToTheTotal) {
  for (std::uint64_t total = 1; total < 400; total += 7)
    for (std::size_t n = 1; n < 30; ++n) {
      std::vector<double> w(n);
      for (std::size_t i = 0; i < n; ++i)
        w[i] = static_cast<double>((i * 7919) % 13);
      const Split s = split(total, w);
      EXPECT_EQ(std::accumulate(s.begin(), s.end(), std::uint64_t{0}),
                std::max<std::uint64_t>(total, n));
      for (const std::uint64_t trials : s)
        EXPECT_GE(trials, 1U);
    }
}

double choose(int n, int k) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
}
double tail_at_least(int n, int k, double p) {
  double sum = 0;
  for (int i = k; i <= n; ++i)
    sum += choose(n, i) * std::pow(p, i) * std::pow(1 - p, n - i);
  return sum;
}

TEST(IncompleteBeta, IsTheBinomialTail) {
  for (const int n : {1, 5, 40})
    for (int k = 1; k <= n; ++k)
      for (const double p : {0.01, 0.3, 0.5, 0.9})
        EXPECT_NEAR(incomplete_beta(k, n - k + 1, p), tail_at_least(n, k, p), 1e-10);
}

TEST(ClopperPearson, KnownValuesAndDefinition) {
  const Interval a = clopper_pearson(3, 200);
  EXPECT_NEAR(a.low, 0.0031, 5e-5);
  EXPECT_NEAR(a.high, 0.0432, 5e-5);
  EXPECT_NEAR(clopper_pearson(0, 300).high, 0.0122, 5e-5);
  EXPECT_EQ(clopper_pearson(0, 300).low, 0);
  EXPECT_EQ(clopper_pearson(9, 9).high, 1);
  EXPECT_EQ(clopper_pearson(0, 0).high, 1);
  for (const int k : {1, 7, 19}) {
    const Interval i = clopper_pearson(static_cast<std::uint64_t>(k), 20, 0.9);
    EXPECT_NEAR(tail_at_least(20, k, i.low), 0.05, 1e-9);
    EXPECT_NEAR(1 - tail_at_least(20, k + 1, i.high), 0.05, 1e-9);
  }
}

TEST(Wilson, KnownValues) {
  const auto near = [](Interval i, double low, double high) {
    EXPECT_NEAR(i.low, low, 0.005);
    EXPECT_NEAR(i.high, high, 0.005);
  };
  near(wilson(7, 10), 0.40, 0.89);
  near(wilson(12, 20), 0.39, 0.78);
  near(wilson(60, 100), 0.50, 0.69);
  near(wilson(0, 10), 0, 0.28);
  near(wilson(10, 10), 0.72, 1);
  EXPECT_EQ(wilson(0, 10).low, 0);
  EXPECT_EQ(wilson(10, 10).high, 1);
}

TEST(NormalQuantile, KnownValues) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(1e-9), -5.9978070150, 1e-8);
  EXPECT_EQ(normal_quantile(0), -std::numeric_limits<double>::infinity());
}

} // namespace
} // namespace kw
