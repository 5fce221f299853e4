// SPDX-License-Identifier: Apache-2.0
// Flags of every command that judges kernels.
#pragma once

#include "service/judging.hpp"
#include "stats/objective.hpp"

namespace CLI {
class App;
}

namespace kw::cli {

/// --workload, --threads, --allow-weak-sandbox; and --least-window, in ms.
void add_judging_flags(CLI::App& command, JudgingOptions& judging, double& least_window_ms);
/// --objective: what "faster over many workloads" means.
void add_objective_flag(CLI::App& command, Objective& objective);

} // namespace kw::cli
