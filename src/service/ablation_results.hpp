// SPDX-License-Identifier: Apache-2.0
// From what an ablation has so far to its report: ratios, matching, intervals. Pure.
#pragma once

#include "report/ablation_report.hpp"
#include "service/ablation.hpp"

#include <map>
#include <string>
#include <utility>

namespace kw {

/// By (task, seed): runs by arm, and the race if there was one.
struct AblationSeed {
  std::map<std::string, ArmRun> runs;
  std::optional<ChampionRace> race;
};
using AblationResults = std::map<std::pair<std::size_t, int>, AblationSeed>;

/// Distinct champions that have to be raced: those of all arms, and the baseline ("") where it is
/// one of them or there is nobody else to race against. Fewer than two: no race.
[[nodiscard]] std::vector<std::string> champions_to_race(const AblationSeed& seed);
/// Fills arms, cells, comparisons, counts; who knows the rest fills it.
[[nodiscard]] AblationReport summarise_ablation(const AblationPlan& plan,
                                                const AblationResults& results);
/// The report as one JSON document ("kernwright.ablation-report/1"), without a newline at the end.
[[nodiscard]] std::string ablation_json(const AblationReport& report);

} // namespace kw
