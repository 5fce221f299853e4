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
  Issues issues;
};

/// `run`: additionally builds every oracle and baseline and judges the baseline at `smoke`, so that
/// a reference and a baseline that disagree are found before anyone optimises against them.
Result<CheckReport> check(const Workspace& workspace, const std::string& path, bool run);

} // namespace kw
