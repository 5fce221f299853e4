// SPDX-License-Identifier: Apache-2.0
// Same-round paired e-gate: sign-based, anytime-valid, immune to outliers (docs/timing.md).
#pragma once

#include <cstdint>

namespace kw {

enum class GateDecision { undecided, faster, not_faster };

struct EGateOptions {
  double min_effect = 0.02; ///< delta: H0 is "median speed-up <= 1 + delta"
  double alpha_accept = 0.01;
  double alpha_reject = 0.05;
  int min_rounds = 8;
  int max_rounds = 100;
};

/// ln E(W, L): E = sum_{j=0..W} C(n+1, j) / [(n+1) C(n, W)], n = W + L. Uniform mixture over
/// win probability in (1/2, 1].
double log_e_value(int wins, int losses);

/// Continued, never restarted: feed rounds as they come, also across sessions.
class EGate {
 public:
  explicit EGate(EGateOptions options = {}) : options_(options) {}
  /// d = ln(t_baseline / t_candidate) of one round; win iff d > ln(1 + min_effect).
  GateDecision add(double d);
  [[nodiscard]] GateDecision decision() const;
  [[nodiscard]] int rounds() const { return wins_ + losses_; }
  [[nodiscard]] int wins() const { return wins_; }
  [[nodiscard]] int losses() const { return losses_; }
  [[nodiscard]] bool exhausted() const { return rounds() >= options_.max_rounds; }

 private:
  EGateOptions options_;
  int wins_ = 0, losses_ = 0;
};

/// Fewest rounds after which a gate can say "faster": all of them won.
[[nodiscard]] int least_rounds_to_accept(const EGateOptions& options);

/// Level for attempt k >= 1 on the same task: 0.05 * 6 / (pi^2 k^2), so that all attempts together
/// stay below 5 %.
double spent_alpha(std::uint64_t attempt);

} // namespace kw
