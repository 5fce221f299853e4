// SPDX-License-Identifier: Apache-2.0
// From the times of rounds to ratios, and from ratios to a word on merit.
#pragma once

#include "judge/binding.hpp"
#include "judge/race.hpp"
#include "model/verdict.hpp"
#include "stats/e_gate.hpp"
#include "stats/objective.hpp"

#include <string>
#include <vector>

namespace kw {

/// A workload may lose this much without blocking a candidate that wins overall.
inline constexpr double tolerated_loss = 0.03;

/// ln(t_first / t_second) of one round and workload: positive where the second is faster.
[[nodiscard]] double log_ratio(const RoundTimes& times);
/// The round's d: ln of its speed-up under the objective.
[[nodiscard]] double combined_ratio(const RoundOutcome& outcome,
                                    const std::vector<BoundWorkload>& workloads,
                                    Objective objective);
/// Rank correlation of the ratios with their order: 0 = steady, +-1 = a trend.
[[nodiscard]] double drift_of(const std::vector<double>& ratios);
/// True where a trend explains the ratios; few rounds show none.
[[nodiscard]] bool is_drifting(const std::vector<double>& ratios);

/// Appends a round to the entries of its workloads against `baseline`, adding entries as needed.
void append_round(std::vector<PairedTiming>& all, const RoundOutcome& outcome,
                  const std::vector<BoundWorkload>& workloads, const std::string& baseline);
/// Fills speed-up and its 95 % sign-test interval of every entry.
void summarise(std::vector<PairedTiming>& all);

/// What the deciding gate leaves to say.
struct GateReading {
  GateDecision decision = GateDecision::undecided;
  std::vector<double> ratios; ///< d per undisturbed round
  std::string loser;    ///< a workload whose own gate says that the candidate is slower; "" = none
  std::string baseline; ///< name, for the sentence
  double min_effect = 0;
};
/// Losing a workload fails, whatever the gate says; a drifting ratio cannot win.
[[nodiscard]] AxisVerdict merit_of(const GateReading& reading);

} // namespace kw
