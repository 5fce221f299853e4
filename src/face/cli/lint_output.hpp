// SPDX-License-Identifier: Apache-2.0
// What `check --lint` prints.
#pragma once

#include "service/linting.hpp"

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace kw::cli {

/// VALID tasks in one line, others with what passes and the remedy.
void print_lint(const LintedTask& task);
[[nodiscard]] nlohmann::ordered_json lint_to_json(const std::vector<LintedTask>& tasks);
[[nodiscard]] bool all_valid(const std::vector<LintedTask>& tasks);

} // namespace kw::cli
