// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "face/cli/lint_output.hpp"
#include "os/interrupt.hpp"
#include "report/escape.hpp"
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
    fmt::print("{}: {}: {}\n", terminal_text(i.error.where),
               i.severity == Severity::error ? "error" : "warning", terminal_text(i.error.message));
    if (!i.error.remedy.empty())
      fmt::print("  remedy: {}\n", terminal_text(i.error.remedy));
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

std::vector<std::string> targets(const std::string& first, std::vector<std::string> more) {
  if (!first.empty())
    more.insert(more.begin(), first);
  return more;
}

int run_lint(Context& context, const Workspace& workspace, const std::vector<std::string>& targets,
             double seconds) {
  LintSettings settings;
  settings.task.seconds = seconds;
  settings.task.stop = [] { return interrupted(); };
  if (!context.json)
    settings.finished = print_lint;
  const Result<std::vector<LintedTask>> tasks = lint(workspace, targets, settings);
  if (!tasks)
    return report_error(context, tasks.error());
  if (context.json)
    fmt::print("{}\n", ordered_json{{"lint", lint_to_json(*tasks)}}.dump(
                           2, ' ', false, ordered_json::error_handler_t::replace));
  return all_valid(*tasks) ? holds : does_not_hold;
}

} // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "check", "validate definitions, workloads, solutions and traces; needs no GPU and no torch");
  struct Options {
    std::string path;
    std::vector<std::string> more;
    bool list = false, run = false, lint = false;
    double seconds = LintOptions{}.seconds;
  };
  auto o = std::make_shared<Options>();
  command->add_option("path", o->path,
                      "a file, an operator folder or a trace set (default: the operators in use)");
  command->add_flag("--list", o->list, "list the definitions");
  command->add_flag("--run", o->run,
                    "also build oracle, baseline and templates and judge what they give");
  CLI::Option* lint_flag = command->add_flag("--lint", o->lint,
                                             "instead: is each task worth judging by? zeros, "
                                             "constants, copies, less precision or an ignored "
                                             "input must fail its check by 10x");
  command
      ->add_option("more", o->more,
                   "with --lint: further paths, or names of definitions of the operators in use")
      ->needs(lint_flag);
  command->add_option("--seconds", o->seconds, "with --lint: at most this long per task")
      ->check(CLI::PositiveNumber)
      ->needs(lint_flag);
  command->callback([&context, o] {
    context.run = [&context, o]() -> int {
      const Result<Workspace> workspace = open_workspace(context.workspace);
      if (!workspace)
        return report_error(context, workspace.error());
      if (o->lint)
        return run_lint(context, *workspace, targets(o->path, o->more), o->seconds);
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
