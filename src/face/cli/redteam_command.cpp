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

/// The score card: attacks that got through, honest kernels that were refused.
int print(const Context& context, const std::vector<RedteamResult>& results) {
  const std::vector<RedteamScore> card = score_card(results);
  std::size_t bad = 0;
  for (const RedteamScore& s : card)
    bad += s.breaches + s.refused + s.other;
  const std::string tier = results.empty() ? "" : results.front().tier;
  if (context.json) {
    ordered_json out{{"tier", tier},
                     {"holds", bad == 0},
                     {"score_card", ordered_json::array()},
                     {"results", ordered_json::array()}};
    for (const RedteamScore& s : card)
      out["score_card"].push_back({{"family", s.family},
                                   {"about", s.about},
                                   {"runs", s.runs},
                                   {"breaches", s.breaches},
                                   {"refused", s.refused},
                                   {"other_verdict", s.other},
                                   {"undecided", s.undecided}});
    for (const RedteamResult& r : results)
      out["results"].push_back({{"id", r.what.id},
                                {"title", r.what.title},
                                {"expected", r.what.expected},
                                {"observed", r.observed},
                                {"as_expected", r.as_expected},
                                {"breach", r.breach},
                                {"undecided", r.undecided},
                                {"detail", r.detail},
                                {"ms", r.ms}});
    fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return bad == 0 ? holds : does_not_hold;
  }
  Table table({{"family"},
               {fmt::format("score card, sandbox {}", tier)},
               {"runs", Align::right},
               {"got through", Align::right},
               {"refused", Align::right},
               {"other verdict", Align::right},
               {"undecided", Align::right}});
  const auto count = [](std::size_t n) {
    return Table::Cell(std::to_string(n), n == 0 ? Colour::none : Colour::bad);
  };
  for (const RedteamScore& s : card) {
    const bool controls = s.family == "controls";
    table.row({s.family, s.about, std::to_string(s.runs), controls ? "" : count(s.breaches),
               controls ? count(s.refused) : "", controls ? "" : count(s.other),
               std::to_string(s.undecided)});
  }
  fmt::print("\n{}", table.text(coloured()));
  return bad == 0 ? holds : does_not_hold;
}

} // namespace

void add_redteam(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "redteam", "run the exploit corpus and the honest controls against this judge");
  auto o = std::make_shared<RedteamOptions>();
  command->add_option("ids", o->only, "only these cases, e.g. RH-01 OK-12 (default: all)");
  command->add_option("--corpus", o->folder, "folder of cases (default: the shipped one)");
  command
      ->add_option("--repeats", o->repeats, "how often each case runs; 0 = as often as it asks for")
      ->check(CLI::Range(0, 1000));
  command->add_option("-j,--jobs", o->jobs, "cases without timing side by side")
      ->check(CLI::Range(1, 64));
  command->add_option("--tier", o->tier,
                      "T2: do without namespaces and cgroup, as on a machine that has none "
                      "(default: what there is)");
  CLI::Option* no_timing = command->add_flag_callback(
      "--no-timing", [o] { o->with_timing = false; }, "only cases that judge no speed");
  command
      ->add_flag_callback(
          "--only-timing", [o] { o->without_timing = false; },
          "only cases that judge speed; they need a quiet machine")
      ->excludes(no_timing);
  command->callback([&context, o] {
    context.run = [&context, o]() -> int {
      const Result<Workspace> workspace = open_workspace(context.workspace);
      if (!workspace)
        return report_error(context, workspace.error());
      if (!context.json)
        o->finished = [](const RedteamResult& r) {
          fmt::print("{:<18} {}  {:<16} {:>7.0f} ms  {}\n", r.what.id,
                     paint(r.as_expected ? "ok  "
                           : r.undecided ? "?   "
                                         : "FAIL",
                           r.as_expected ? Colour::good
                           : r.undecided ? Colour::warn
                                         : Colour::bad,
                           coloured()),
                     r.observed, r.ms,
                     r.as_expected ? shorten(r.what.title, 60)
                                   : fmt::format("expected {}: {}",
                                                 fmt::join(r.what.expected, " or "), r.detail));
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
