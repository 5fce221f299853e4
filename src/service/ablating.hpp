// SPDX-License-Identifier: Apache-2.0
// Runs an ablation, or goes on with one: the arms of every definition and seed, then the race of
// their champions. Every finished run and race is kept and never repeated.
#pragma once

#include "report/ablation_report.hpp"
#include "service/ablation.hpp"
#include "service/judging.hpp"
#include "service/workspace.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kw {

struct AblationHooks {
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string&)> note = [](const std::string&) {};
  /// Before the first step: what will be done, how many of its steps are left, seconds these take.
  std::function<void(const std::string& id, const AblationPlan&, std::size_t left, double seconds)>
      planned = [](const std::string&, const AblationPlan&, std::size_t, double) {};
  /// After each step, with what came of it in a sentence and the seconds that are left.
  std::function<void(const AblationPlan&, const AblationStep&, const std::string& result,
                     double seconds_left)>
      finished = [](const AblationPlan&, const AblationStep&, const std::string&, double) {};
  /// Inside a step: evaluations or rounds done.
  std::function<void(const AblationStep&, int done, int of)> progress = [](const AblationStep&, int,
                                                                           int) {};
};

struct AblationRequest {
  std::vector<std::string> definitions;
  std::string resume; ///< id; then everything but the judging comes from there
  AblationOptions options;
  JudgingOptions judging;
  AblationHooks hooks;
};

struct AblationResult {
  AblationReport report;
  std::string folder; ///< report.html, report.json, cells.csv
  bool interrupted = false;
};

/// Errors: as run_optimize; an ablation that another compiler, machine or version of the task
/// began.
Result<AblationResult> run_ablation(const Workspace& workspace, const AblationRequest& request);

} // namespace kw
