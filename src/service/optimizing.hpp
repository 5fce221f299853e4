// SPDX-License-Identifier: Apache-2.0
// The main job, whole: find the task, search, judge the winner, archive, write the report.
#pragma once

#include "controller/optimize.hpp"
#include "report/optimize_report.hpp"
#include "service/judging.hpp"
#include "service/workspace.hpp"

#include <string>

namespace kw {

struct OptimizeRequest {
  std::string definition;
  std::string resume; ///< run id; then options come from the run
  OptimizeOptions options;
  JudgingOptions judging;
  OptimizeHooks hooks;
};

struct OptimizeResult {
  std::string run;
  OptimizeOutcome outcome;
  OptimizeReport report;
  std::string folder; ///< .kernwright/runs/<id>: report.html, solution.json, probes.csv, report.md
};

Result<OptimizeResult> run_optimize(const Workspace& workspace, const OptimizeRequest& request);

} // namespace kw
