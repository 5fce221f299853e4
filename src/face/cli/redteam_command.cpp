// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "report/table.hpp"
#include "service/redteam.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {
namespace {

using nlohmann::ordered_json;

bool is_attack(const RedteamResult& r) { return r.what.id.starts_with("RH-"); }

/// The score card: attacks that got through, honest kernels that were refused.
int print(const Context& context, const std::vector<RedteamResult>& results) {
  std::size_t attacks = 0, succeeded = 0, controls = 0, refused = 0;
  for (const RedteamResult& r : results) {
    is_attack(r) ? ++attacks : ++controls;
    if (!r.as_expected)
      is_attack(r) ? ++succeeded : ++refused;
  }
  if (context.json) {
    ordered_json out{{"attacks", attacks}, {"unexpected_attacks", succeeded}, {"controls", controls}, {"refused_controls", refused}, {"results", ordered_json::array()}};
    for (const RedteamResult& r : results)
      out["results"].push_back({{"id", r.what.id}, {"title", r.what.title}, {"expected", r.what.expected}, {"observed", r.observed}, {"as_expected", r.as_expected}, {"detail", r.detail}, {"ms", r.ms}});
    fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    fmt::print("\nattacks   {} of {} got another verdict than expected\ncontrols  {} of {} honest kernels got another verdict than expected\n", succeeded, attacks, refused, controls);
  }
  return succeeded + refused == 0 ? holds : does_not_hold;
}

} // namespace

void add_redteam(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("redteam", "run the exploit corpus and the honest controls against this judge");
  auto o = std::make_shared<RedteamOptions>();
  command->add_option("ids", o->only, "only these cases, e.g. RH-01 OK-12 (default: all)");
  command->add_option("--corpus", o->folder, "folder of cases (default: the shipped one)");
  command->add_option("--repeats", o->repeats, "how often each case runs")->check(CLI::Range(1, 1000));
  command->callback([&context, o] {
    context.run = [&context, o]() -> int {
      const Result<Workspace> workspace = open_workspace(context.workspace);
      if (!workspace)
        return report_error(context, workspace.error());
      if (!context.json)
        o->finished = [](const RedteamResult& r) {
          fmt::print("{:<18} {}  {:<16} {:>7.0f} ms  {}\n", r.what.id, paint(r.as_expected ? "ok  " : "FAIL", r.as_expected ? Colour::good : Colour::bad, coloured()),
                     r.observed, r.ms, r.as_expected ? shorten(r.what.title, 60) : fmt::format("expected {}: {}", fmt::join(r.what.expected, " or "), r.detail));
          std::fflush(stdout);
        };
      const Result<std::vector<RedteamResult>> results = run_redteam(*workspace, *o);
      if (!results)
        return report_error(context, results.error());
      return print(context, *results);
    };
  });
}

} // namespace kw::cli
