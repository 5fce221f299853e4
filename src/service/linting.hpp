// SPDX-License-Identifier: Apache-2.0
// Holds tasks against solutions that do not do the work (judge/task_lint.hpp).
#pragma once

#include "base/result.hpp"
#include "judge/task_lint.hpp"
#include "service/workspace.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kw {

struct LintedTask {
  std::string definition;
  std::string file; ///< of the definition
  TaskLint lint;
};

struct LintSettings {
  LintOptions task;
  std::function<void(const LintedTask&)> finished = [](const LintedTask&) {};
};

/// `targets`: names of definitions of the operators in use, or paths as `check` takes them; none =
/// all operators in use. Errors: unknown names, unsound files, oracles that do not build or fail.
Result<std::vector<LintedTask>> lint(const Workspace& workspace,
                                     const std::vector<std::string>& targets,
                                     const LintSettings& settings);

} // namespace kw
