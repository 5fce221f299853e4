// SPDX-License-Identifier: Apache-2.0
// The main job, whole: find the task, search, judge the winner, archive, write the report.
#pragma once

#include "controller/optimize.hpp"
#include "report/optimize_report.hpp"
#include "service/judging.hpp"
#include "service/workspace.hpp"

#include <map>
#include <string>
#include <vector>

namespace kw {

struct OptimizeRequest {
  std::string definition;
  std::string resume;   ///< run id; then options come from the run
  std::string recorded; ///< path of another run's journal: its evaluations instead of new ones
  bool again = false;   ///< with `resume`: a finished run may be gone through again, by its journal
  OptimizeOptions options;
  JudgingOptions judging;
  OptimizeHooks hooks;
  std::map<std::string, std::string>
      origins; ///< by option of the command: where its value came from
};

struct OptimizeResult {
  std::string run;
  OptimizeOutcome outcome;
  OptimizeReport report;
  std::string folder; ///< .kernwright/runs/<id>: report.html, solution.json, probes.csv, report.md
  std::vector<std::string> workloads; ///< uuids of what it judged on
  std::string winner_hash;            ///< full hash of the search's winner, "" = there is none
};

Result<OptimizeResult> run_optimize(const Workspace& workspace, const OptimizeRequest& request);

} // namespace kw
