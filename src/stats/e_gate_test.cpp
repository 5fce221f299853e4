// SPDX-License-Identifier: Apache-2.0
#include "stats/e_gate.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

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

/// What disturbs the logarithm of the time of one half of a round.
enum class Noise { skewed_with_spikes, gaussian, drift, bursts };

/// A small virtual machine. The halves of a round run in random order, which is all the gate asks.
class Machine {
 public:
  Machine(unsigned seed, Noise noise, double sigma) : random_(seed), noise_(noise), sigma_(sigma) {}

  /// ln(t_baseline / t_candidate) of one round.
  double round(double speedup) {
    const double first = half(), second = half();
    const bool baseline_first = unit_(random_) < 0.5;
    return std::log(speedup) + (baseline_first ? first - second : second - first);
  }

 private:
  double half() {
    switch (noise_) {
    case Noise::skewed_with_spikes:
      return skewed_(random_) * sigma_ + (unit_(random_) < 0.05 ? 0.5 * unit_(random_) : 0.0);
    case Noise::gaussian:
      return normal_(random_) * sigma_;
    case Noise::drift: // AR(1): a clock that wanders over some fifty halves
      state_ = 0.98 * state_ + normal_(random_) * sigma_;
      return state_;
    case Noise::bursts: // a neighbour that comes for ten halves or so
      state_ = unit_(random_) < (state_ > 0 ? 0.1 : 0.02) ? (state_ > 0 ? 0 : 1) : state_;
      return normal_(random_) * sigma_ + 0.3 * state_ * unit_(random_);
    }
    return 0;
  }

  std::mt19937_64 random_;
  Noise noise_;
  double sigma_, state_ = 0;
  std::uniform_real_distribution<double> unit_;
  std::normal_distribution<double> normal_;
  std::gamma_distribution<double> skewed_{0.7, 1};
};

constexpr Noise noises[] = {Noise::skewed_with_spikes, Noise::gaussian, Noise::drift,
                            Noise::bursts};

/// A gate as a function of rounds, and how often it accepts.
template <typename Gate>
double accept_rate(Noise noise, double speedup, double sigma, int campaigns, Gate gate) {
  int accepted = 0;
  for (int c = 0; c < campaigns; ++c) {
    Machine machine(static_cast<unsigned>(c) + 1, noise, sigma);
    accepted += gate([&] { return machine.round(speedup); }) ? 1 : 0;
  }
  return static_cast<double>(accepted) / campaigns;
}

template <typename Rounds> bool e_gate_accepts(Rounds rounds) {
  EGate gate;
  GateDecision decision = GateDecision::undecided;
  while (decision == GateDecision::undecided && !gate.exhausted())
    decision = gate.add(rounds());
  return decision == GateDecision::faster;
}

TEST(EGate, FalseAcceptAtTheBoundaryIsBelowOnePercentInFourNoiseModels) {
  for (const Noise noise : noises)
    for (const double sigma : {0.005, 0.03})
      EXPECT_LT(accept_rate(noise, 1.02, sigma, 2500, [](auto r) { return e_gate_accepts(r); }),
                0.01)
          << static_cast<int>(noise) << " at " << sigma;
}

/// The simulation can tell: what other harnesses do accepts the same noise often.
TEST(EGate, AMedianOfTenAcceptsOftenAtTheBoundary) {
  const auto median_of_ten = [](auto rounds) {
    std::vector<double> d(10);
    std::generate(d.begin(), d.end(), rounds);
    std::nth_element(d.begin(), d.begin() + 5, d.end());
    return d[5] > std::log(1.02);
  };
  for (const Noise noise : noises)
    EXPECT_GT(accept_rate(noise, 1.02, 0.03, 300, median_of_ten), 0.25) << static_cast<int>(noise);
}

TEST(EGate, FivePercentAreFoundWhereNoiseIsThreePercentAtMost) {
  for (const Noise noise : noises)
    for (const double sigma : {0.005, 0.01}) // per half: 0.7 and 1.4 % of a round's ratio
      EXPECT_GT(accept_rate(noise, 1.05, sigma, 300, [](auto r) { return e_gate_accepts(r); }),
                0.95)
          << static_cast<int>(noise) << " at " << sigma;
}

TEST(EGate, PowerIsWhereItShouldBe) {
  for (const Noise noise : noises) {
    const auto e_gate = [](auto r) { return e_gate_accepts(r); };
    EXPECT_GT(accept_rate(noise, 1.10, 0.03, 300, e_gate), 0.95) << static_cast<int>(noise);
    EXPECT_EQ(accept_rate(noise, 1.00, 0.03, 300, e_gate), 0) << static_cast<int>(noise);
  }
}

TEST(SpentAlpha, SumsToFivePercent) {
  double sum = 0;
  for (std::uint64_t k = 1; k <= 100'000; ++k)
    sum += spent_alpha(k);
  EXPECT_LT(sum, 0.05);
  EXPECT_NEAR(sum, 0.05, 1e-6);
  EXPECT_NEAR(spent_alpha(1), 0.0304, 1e-4);
}

TEST(EGate, FewestRoundsThatCanAccept) {
  // (2^(n+1) - 1) / (n + 1) reaches 20 at n = 6, 100 at n = 9.
  EXPECT_EQ(least_rounds_to_accept({.alpha_accept = 0.05}), EGateOptions{}.min_rounds);
  EXPECT_EQ(least_rounds_to_accept({.alpha_accept = 0.01}), 9);
  EXPECT_EQ(least_rounds_to_accept({.alpha_accept = 1e-300}), EGateOptions{}.max_rounds);
}

} // namespace
} // namespace kw
