// SPDX-License-Identifier: Apache-2.0
#include "face/cli/judging_flags.hpp"

#include "face/cli/command.hpp"

#include <CLI/CLI.hpp>

namespace kw::cli {

void add_judging_flags(CLI::App& command, JudgingOptions& judging, double& least_window_ms) {
  command.add_option("--workload", judging.workloads,
                     "only these workloads: uuid prefix or axis=value (repeatable)");
  command
      .add_option("--threads", judging.threads,
                  "threads the kernel may use (default: the definition's)")
      ->check(CLI::Range(1, 1024));
  command
      .add_option("--least-window", least_window_ms,
                  "least length of a timing window in ms (default: calibrated)")
      ->check(at_most(1000));
  command.add_flag("--allow-weak-sandbox", judging.allow_weak_sandbox,
                   "run below the definition's sandbox tier; taints the verdict");
}

void add_objective_flag(CLI::App& command, Objective& objective) {
  command
      .add_option_function<std::string>(
          "--objective",
          [&objective](const std::string& text) { objective = *objective_from_name(text); },
          "what counts over several workloads; recorded with the claim (docs/timing.md)")
      ->check(CLI::IsMember(objective_names()))
      ->default_str("weighted");
}

} // namespace kw::cli
