// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "service/doctor.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {
namespace {

void print_text(const DoctorReport& report) {
  for (const DoctorLine& line : report.lines) {
    fmt::print("{:<12} {:<9} {}\n", line.subject, line.state, line.text);
    if (!line.remedy.empty())
      fmt::print("{:<12} {:<9} remedy: {}\n", "", "", line.remedy);
  }
  if (report.ceilings.empty())
    return;
  fmt::print("\n{:<44} {:>12} {:>12}\n", "measured ceilings", "1 thread", "all threads");
  for (const DoctorCeiling& c : report.ceilings)
    fmt::print("{:<44} {:>12.1f} {:>12.1f} {}\n", c.name, c.one_thread, c.all_threads, c.unit);
}

void print_json(const DoctorReport& report) {
  nlohmann::ordered_json out{{"healthy", report.healthy()},
                             {"lines", nlohmann::ordered_json::array()},
                             {"ceilings", nlohmann::ordered_json::array()}};
  for (const DoctorLine& l : report.lines)
    out["lines"].push_back({{"subject", l.subject},
                            {"state", l.state},
                            {"text", l.text},
                            {"remedy", l.remedy},
                            {"blocking", l.blocking}});
  for (const DoctorCeiling& c : report.ceilings)
    out["ceilings"].push_back({{"name", c.name},
                               {"one_thread", c.one_thread},
                               {"all_threads", c.all_threads},
                               {"unit", c.unit}});
  fmt::print("{}\n", out.dump(2));
}

} // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("doctor", "say what this machine can do, by trying it");
  auto options = std::make_shared<DoctorOptions>();
  command->add_flag("--quick", options->quick, "skip the measured ceilings and the A/A timing run");
  command->add_flag("--refresh", options->refresh,
                    "measure the ceilings again instead of using the cached ones");
  command->callback([&context, options] {
    context.run = [&context, options]() -> int {
      const Result<Workspace> workspace = open_workspace(context.workspace);
      if (!workspace)
        return report_error(context, workspace.error());
      const Result<DoctorReport> report = doctor(*workspace, *options);
      if (!report)
        return report_error(context, report.error());
      context.json ? print_json(*report) : print_text(*report);
      return report->healthy() ? holds : does_not_hold;
    };
  });
}

} // namespace kw::cli
