// SPDX-License-Identifier: Apache-2.0
#include "stats/e_gate.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace kw {
namespace {

double choose(int n, int k) {
  double c = 1;
  for (int i = 1; i <= k; ++i)
    c = c * (n - k + i) / i;
  return c;
}
double closed_form(int wins, int losses) {
  const int n = wins + losses;
  double sum = 0;
  for (int j = 0; j <= wins; ++j)
    sum += choose(n + 1, j);
  return sum / ((n + 1) * choose(n, wins));
}
/// The definition: mixture of likelihood ratios over p in (1/2, 1], by the midpoint rule.
double by_integration(int wins, int losses) {
  constexpr int steps = 20000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double p = 0.5 + 0.5 * (i + 0.5) / steps;
    sum += std::pow(2 * p, wins) * std::pow(2 * (1 - p), losses);
  }
  return sum / steps;
}

TEST(EValue, EqualsTheClosedFormAndTheMixture) {
  for (int wins = 0; wins <= 14; ++wins)
    for (int losses = 0; losses <= 14; ++losses) {
      const double e = std::exp(log_e_value(wins, losses));
      EXPECT_NEAR(e / closed_form(wins, losses), 1, 1e-10) << wins << ' ' << losses;
      EXPECT_NEAR(e / by_integration(wins, losses), 1, 1e-5) << wins << ' ' << losses;
    }
}

TEST(EValue, IsAMartingaleUnderTheNull) { // E(W, L) = (E(W+1, L) + E(W, L+1)) / 2 at p = 1/2
  for (int wins = 0; wins <= 60; wins += 3)
    for (int losses = 0; losses <= 60; losses += 4)
      EXPECT_NEAR((std::exp(log_e_value(wins + 1, losses) - log_e_value(wins, losses)) +
                   std::exp(log_e_value(wins, losses + 1) - log_e_value(wins, losses))) /
                      2,
                  1, 1e-9);
}

TEST(EValue, StaysFiniteForLongRuns) {
  EXPECT_GT(log_e_value(5000, 0), 3000);
  EXPECT_LT(log_e_value(0, 5000), -5);
  EXPECT_TRUE(std::isfinite(log_e_value(5000, 5000)));
}

TEST(EGate, AllWinsAcceptAtNine) {
  EXPECT_NEAR(std::exp(log_e_value(9, 0)), 102.3, 0.01);
  EGate gate;
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(gate.add(0.5), GateDecision::undecided) << i;
  EXPECT_EQ(gate.add(0.5), GateDecision::faster);
  EXPECT_EQ(gate.wins(), 9);
}

TEST(EGate, AllLossesRejectAtTheLeastNumberOfRounds) {
  EGate gate;
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(gate.add(-0.1), GateDecision::undecided);
  EXPECT_EQ(gate.add(-0.1), GateDecision::not_faster);
}

TEST(EGate, TiesAndNanAreLosses) {
  EGate gate;
  gate.add(std::log1p(0.02));
  gate.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(gate.wins(), 0);
  EXPECT_EQ(gate.rounds(), 2);
  gate.add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(gate.wins(), 1);
}

TEST(EGate, ExhaustsAtTheBudget) {
  EGateOptions options;
  options.max_rounds = 10;
  EGate gate(options);
  for (int i = 0; i < 10; ++i)
    gate.add(i % 2 ? 1 : -1);
  EXPECT_TRUE(gate.exhausted());
  EXPECT_EQ(gate.decision(), GateDecision::undecided);
}

/// Paired log ratios of a small virtual machine: skewed noise on either half, spikes of one arm.
class Machine {
 public:
  Machine(unsigned seed, double sigma) : random_(seed), sigma_(sigma) {}
  double round(double speedup) {
    return std::log(speedup) + noise() - noise(); // exchangeable between the arms
  }

 private:
  double noise() {
    std::gamma_distribution<double> skewed(0.7, sigma_);
    std::uniform_real_distribution<double> unit;
    return skewed(random_) + (unit(random_) < 0.05 ? 0.5 * unit(random_) : 0.0);
  }
  std::mt19937_64 random_;
  double sigma_;
};

double accept_rate(double speedup, double sigma, int campaigns) {
  int accepted = 0;
  for (int c = 0; c < campaigns; ++c) {
    Machine machine(static_cast<unsigned>(c) + 1, sigma);
    EGate gate;
    GateDecision decision = GateDecision::undecided;
    while (decision == GateDecision::undecided && !gate.exhausted())
      decision = gate.add(machine.round(speedup));
    accepted += decision == GateDecision::faster;
  }
  return static_cast<double>(accepted) / campaigns;
}

TEST(EGate, FalseAcceptAtTheBoundaryIsBelowOnePercent) {
  for (const double sigma : {0.01, 0.03, 0.08})
    EXPECT_LT(accept_rate(1.02, sigma, 3000), 0.01) << sigma;
}

TEST(EGate, PowerIsWhereItShouldBe) {
  EXPECT_GT(accept_rate(1.10, 0.03, 300), 0.95);
  EXPECT_EQ(accept_rate(1.00, 0.03, 300), 0);
}

TEST(SpentAlpha, SumsToFivePercent) {
  double sum = 0;
  for (std::uint64_t k = 1; k <= 100'000; ++k)
    sum += spent_alpha(k);
  EXPECT_LT(sum, 0.05);
  EXPECT_NEAR(sum, 0.05, 1e-6);
  EXPECT_NEAR(spent_alpha(1), 0.0304, 1e-4);
}

} // namespace
} // namespace kw
