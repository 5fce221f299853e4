// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "formats/issue.hpp"
#include "service/workspace.hpp"

#include <string>
#include <vector>

namespace kw {

struct CheckReport {
  std::vector<std::string> definitions;
  std::size_t workloads = 0, solutions = 0, traces = 0;
  std::size_t baselines = 0; ///< built, run and found right
  std::size_t templates = 0; ///< spaces whose first seed was
  Issues issues;
};

/// `run`: additionally builds every oracle and baseline and judges the baseline at `smoke` and the
/// first seed of every template at a glance, so that parts that disagree are found before anyone
/// optimises with them. Peers are not run.
Result<CheckReport> check(const Workspace& workspace, const std::string& path, bool run);

} // namespace kw
