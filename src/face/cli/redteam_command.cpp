// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "report/escape.hpp"
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

ordered_json to_json(const RedteamScore& s) {
  const bool controls = s.family == "controls";
  return {{"family", s.family},
          {"about", s.about},
          {"runs", s.runs},
          {"breaches", s.breaches},
          {"missed_within_rate", s.missed},
          {"refused", s.refused},
          {"other_verdict", s.other},
          {"undecided", s.undecided},
          {controls ? "false_reject_rate" : "attack_success_rate", s.rate()},
          {"rate_below", s.rate_bound()}};
}

int print_json(const std::vector<RedteamResult>& results, const std::vector<RedteamScore>& card,
               const RedteamTotals& all, const std::string& tier) {
  ordered_json out{{"tier", tier},
                   {"holds", all.holds()},
                   {"attack_success_rate", all.attacks.rate()},
                   {"false_reject_rate", all.controls.rate()},
                   {"totals", {to_json(all.attacks), to_json(all.controls)}},
                   {"score_card", ordered_json::array()},
                   {"results", ordered_json::array()}};
  for (const RedteamScore& s : card)
    out["score_card"].push_back(to_json(s));
  for (const RedteamResult& r : results)
    out["results"].push_back({{"id", r.what.id},
                              {"title", r.what.title},
                              {"expected", r.what.expected},
                              {"miss_rate", r.what.miss_rate},
                              {"observed", r.observed},
                              {"tier", r.tier},
                              {"as_expected", r.as_expected},
                              {"breach", r.breach},
                              {"missed", r.missed},
                              {"undecided", r.undecided},
                              {"detail", r.detail},
                              {"ms", r.ms}});
  fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
  return all.holds() ? holds : does_not_hold;
}

/// "0 of 325 (0.0 %, below 0.9 % at 95 %)"
std::string rate_sentence(const RedteamScore& s, std::size_t bad) {
  return fmt::format("{} of {} ({:.1f} %, below {:.2g} % at 95 %)", bad, s.runs - s.undecided,
                     100 * s.rate(), 100 * s.rate_bound());
}

/// The score card: attacks that got through, honest kernels that were refused.
int print(const Context& context, const std::vector<RedteamResult>& results) {
  const std::vector<RedteamScore> card = score_card(results);
  const RedteamTotals all = totals(card);
  const std::string tier = results.empty() ? "" : results.front().tier;
  if (context.json)
    return print_json(results, card, all, tier);
  Table table({{"family"},
               {fmt::format("score card, sandbox {}", tier)},
               {"runs", Align::right},
               {"got through", Align::right},
               {"rate", Align::right},
               {"missed", Align::right},
               {"refused", Align::right},
               {"other verdict", Align::right},
               {"undecided", Align::right}});
  const auto count = [](std::size_t n) {
    return Table::Cell(std::to_string(n), n == 0 ? Colour::none : Colour::bad);
  };
  for (const RedteamScore& s : card) {
    const bool controls = s.family == "controls";
    table.row({s.family, s.about, std::to_string(s.runs), controls ? "" : count(s.breaches),
               fmt::format("{:.1f} %", 100 * s.rate()), controls ? "" : std::to_string(s.missed),
               controls ? count(s.refused) : "", controls ? "" : count(s.other),
               std::to_string(s.undecided)});
  }
  fmt::print("\n{}\nsandbox {}: ", table.text(coloured()), tier);
  if (all.attacks.runs > 0)
    fmt::print("attack success {}", rate_sentence(all.attacks, all.attacks.breaches));
  if (all.controls.runs > 0)
    fmt::print("{}false rejects {}", all.attacks.runs > 0 ? "; " : "",
               rate_sentence(all.controls, all.controls.refused));
  fmt::print("\n");
  return all.holds() ? holds : does_not_hold;
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
  command->add_option("--sanitize", o->sanitize,
                      "also run the honest controls with these sanitizers, e.g. "
                      "address,undefined,thread: none may be refused");
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
          // Whether a miss is one too many shows only when all runs of the case are in.
          const bool may_miss = r.breach && r.what.miss_rate > 0;
          const bool open = r.undecided || may_miss;
          fmt::print("{:<18} {}  {:<16} {:>7.0f} ms  {}\n", r.what.id,
                     paint(r.as_expected ? "ok  "
                           : may_miss    ? "miss"
                           : open        ? "?   "
                                         : "FAIL",
                           r.as_expected ? Colour::good
                           : open        ? Colour::warn
                                         : Colour::bad,
                           coloured()),
                     r.observed, r.ms,
                     terminal_text(r.as_expected ? shorten(r.what.title, 60)
                                                 : fmt::format("expected {}: {}",
                                                               fmt::join(r.what.expected, " or "),
                                                               r.detail)));
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
