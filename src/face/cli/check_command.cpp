// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "service/checking.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {
namespace {

using nlohmann::ordered_json;

void print_json(const CheckReport& report) {
  ordered_json out{{"definitions", report.definitions}, {"workloads", report.workloads},
                   {"solutions", report.solutions},     {"traces", report.traces},
                   {"baselines_run", report.baselines}, {"templates_run", report.templates},
                   {"issues", ordered_json::array()}};
  for (const Issue& i : report.issues)
    out["issues"].push_back({{"severity", i.severity == Severity::error ? "error" : "warning"},
                             {"where", i.error.where},
                             {"message", i.error.message},
                             {"remedy", i.error.remedy}});
  fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

void print_text(const CheckReport& report) {
  std::size_t errors = 0, warnings = 0;
  for (const Issue& i : report.issues) {
    ++(i.severity == Severity::error ? errors : warnings);
    fmt::print("{}: {}: {}\n", i.error.where, i.severity == Severity::error ? "error" : "warning",
               i.error.message);
    if (!i.error.remedy.empty())
      fmt::print("  remedy: {}\n", i.error.remedy);
  }
  const auto count = [](std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  fmt::print("{}, {}, {}, {}: {}, {}\n", count(report.definitions.size(), "definition"),
             count(report.workloads, "workload"), count(report.solutions, "solution"),
             count(report.traces, "trace"), count(errors, "error"), count(warnings, "warning"));
  if (report.baselines > 0)
    fmt::print("built and run: {}, {}, right in every trial\n", count(report.baselines, "baseline"),
               count(report.templates, "template"));
}

} // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "check", "validate definitions, workloads, solutions and traces; needs no GPU and no torch");
  struct Options {
    std::string path;
    bool list = false, run = false;
  };
  auto o = std::make_shared<Options>();
  command->add_option("path", o->path,
                      "a file, an operator folder or a trace set (default: the operators in use)");
  command->add_flag("--list", o->list, "list the definitions");
  command->add_flag("--run", o->run,
                    "also build oracle, baseline and templates and judge what they give");
  command->callback([&context, o] {
    context.run = [&context, o]() -> int {
      const Result<Workspace> workspace = open_workspace(context.workspace);
      if (!workspace)
        return report_error(context, workspace.error());
      const Result<CheckReport> report =
          check(*workspace, o->path.empty() ? workspace->operators : o->path, o->run);
      if (!report)
        return report_error(context, report.error());
      if (o->list && !context.json) {
        for (const std::string& d : report->definitions)
          fmt::print("{}\n", d);
        return holds;
      }
      context.json ? print_json(*report) : print_text(*report);
      return has_errors(report->issues) ? does_not_hold : holds;
    };
  });
}

} // namespace kw::cli
