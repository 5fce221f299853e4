// SPDX-License-Identifier: Apache-2.0
#include "face/cli/lint_output.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace kw::cli {

using nlohmann::ordered_json;

void print_lint(const LintedTask& task) {
  const TaskLint& lint = task.lint;
  const auto failing = std::count_if(lint.nulls.begin(), lint.nulls.end(),
                                     [](const NullOutcome& n) { return n.fails; });
  fmt::print(
      "{:32}  {:9}  {} of {} null solutions fail by {}x or more; {} trial{} on {}, {} oracle "
      "calls, {:.1f} s\n",
      task.definition, lint.word, failing, lint.nulls.size(), lint.margin, lint.trials,
      lint.trials == 1 ? "" : "s", fmt::join(lint.workloads, "; "), lint.oracle_calls,
      lint.seconds);
  for (const NullOutcome& n : lint.nulls)
    if (!n.fails && lint.word == "INVALID")
      fmt::print("  {}: {}\n  remedy: {}\n", n.null, n.detail, n.remedy);
  if (lint.word != "VALID") {
    for (const std::string& note : lint.notes)
      fmt::print("  note: {}\n", note);
    fmt::print("  in {}\n", task.file);
  }
  std::fflush(stdout);
}

ordered_json lint_to_json(const std::vector<LintedTask>& tasks) {
  ordered_json out = ordered_json::array();
  for (const LintedTask& task : tasks) {
    ordered_json nulls = ordered_json::array();
    for (const NullOutcome& n : task.lint.nulls) {
      ordered_json one{{"null", n.null}, {"fails", n.fails}};
      if (!n.fails)
        one.update({{"margin", n.margin}, {"detail", n.detail}, {"remedy", n.remedy}});
      nulls.push_back(std::move(one));
    }
    out.push_back({{"definition", task.definition},
                   {"file", task.file},
                   {"word", task.lint.word},
                   {"margin", task.lint.margin},
                   {"nulls", std::move(nulls)},
                   {"workloads", task.lint.workloads},
                   {"notes", task.lint.notes},
                   {"trials", task.lint.trials},
                   {"oracle_calls", task.lint.oracle_calls},
                   {"seconds", task.lint.seconds}});
  }
  return out;
}

bool all_valid(const std::vector<LintedTask>& tasks) {
  return std::all_of(tasks.begin(), tasks.end(),
                     [](const LintedTask& t) { return t.lint.word == "VALID"; });
}

} // namespace kw::cli
