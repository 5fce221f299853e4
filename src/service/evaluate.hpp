// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/probe.hpp"
#include "service/judging.hpp"
#include "service/workspace.hpp"
#include "stats/objective.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kw {

struct EvaluateOptions {
  std::string definition; ///< for bare sources
  std::string entry;
  std::string gate = "gate";
  bool timing = false;  ///< paired gate against the baseline, then confirmation
  std::string baseline; ///< path of another baseline solution; "" = the definition's
  bool peers = false;
  std::string sanitize; ///< "address,undefined,thread", "none"; "" = as the gate asks for
  int jobs = 1;         ///< candidates built and verified in parallel; timing is serial
  bool archive = true;
  Objective objective = Objective::weighted; ///< of the timing
  double timing_seconds = 120;
  double least_window_ms = 0; ///< 0 = calibrated
  JudgingOptions judging;
  std::function<void(const Probe&)> finished = [](const Probe&) {};
};

struct Evaluation {
  std::string path; ///< what was asked for
  Probe probe;
  std::string error; ///< our side failed or the input is unusable; then there is no verdict
  std::string error_remedy;
};

/// Judges each path (files, or folders searched for solution.json) and archives every probe.
Result<std::vector<Evaluation>> evaluate(const Workspace& workspace,
                                         const std::vector<std::string>& paths,
                                         const EvaluateOptions& options);

} // namespace kw
