// SPDX-License-Identifier: Apache-2.0
// E(W, L) is the likelihood of W wins and L losses under a win probability p drawn uniformly from
// (1/2, 1], divided by their likelihood under p = 1/2:
//     E = 2^n * 2 * Integral_{1/2}^{1} p^W (1-p)^L dp.
// The incomplete beta integral is a binomial tail: Integral = B(W+1, L+1) * P(Bin(n+1, 1/2) <= W),
// which gives sum_{j<=W} C(n+1, j) / ((n+1) C(n, W)). Under H0 (every p <= 1/2 given the past) it
// is a supermartingale that starts at 1, so P(ever E >= 1/alpha) <= alpha (Ville).
#include "stats/e_gate.hpp"

#include "base/result.hpp"

#include <cmath>
#include <numbers>

namespace kw {
double log_e_value(int wins, int losses) {
  KW_ASSERT(wins >= 0 && losses >= 0);
  const double n = wins + losses;
  // Running log-sum-exp of ln C(n+1, j), j = 0..W; the terms overflow a double from n = 1024 on.
  double log_term = 0, top = 0, sum = 1; // j = 0
  for (int j = 1; j <= wins; ++j) {
    log_term += std::log((n + 2 - j) / j);
    if (log_term > top) {
      sum = sum * std::exp(top - log_term) + 1;
      top = log_term;
    } else {
      sum += std::exp(log_term - top);
    }
  }
  // C(n, W) = C(n+1, W) (n + 1 - W) / (n + 1).
  return top + std::log(sum) - log_term - std::log(n + 1 - wins);
}

GateDecision EGate::add(double d) {
  // Written positively: a tie and a NaN count as losses.
  if (d > std::log1p(options_.min_effect))
    ++wins_;
  else
    ++losses_;
  return decision();
}

GateDecision EGate::decision() const {
  if (rounds() < options_.min_rounds)
    return GateDecision::undecided;
  if (log_e_value(wins_, losses_) >= -std::log(options_.alpha_accept))
    return GateDecision::faster;
  if (log_e_value(losses_, wins_) >= -std::log(options_.alpha_reject))
    return GateDecision::not_faster;
  return GateDecision::undecided;
}

int least_rounds_to_accept(const EGateOptions& options) {
  int rounds = options.min_rounds;
  while (rounds < options.max_rounds && log_e_value(rounds, 0) < -std::log(options.alpha_accept))
    ++rounds;
  return rounds;
}

double spent_alpha(std::uint64_t attempt) {
  KW_ASSERT(attempt >= 1);
  const double k = static_cast<double>(attempt);
  return 0.05 * 6 / (std::numbers::pi * std::numbers::pi * k * k);
}

} // namespace kw
