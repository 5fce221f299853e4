// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "face/cli/duration.hpp"
#include "formats/verdict_json.hpp"
#include "os/interrupt.hpp"
#include "report/table.hpp"
#include "report/verdict_text.hpp"
#include "service/replay.hpp"
#include "stats/trials.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {

namespace {

/// What is asked of a fault that a replay did not see.
constexpr double asked_rate = 0.01;

nlohmann::ordered_json excluded_json(const Verdict& verdict) {
  nlohmann::ordered_json out{{"workloads", nlohmann::ordered_json::array()}};
  std::uint64_t all = 0;
  for (const WorkloadTrials& w : verdict.workloads) {
    all += w.trials;
    out["workloads"].push_back(
        {{"uuid", w.uuid},
         {"trials", w.trials},
         {"failures", w.failures},
         {"failure_rate_bound", w.failures > 0 ? 1 : failure_rate_bound(w.trials)},
         {"miss_probability_at_1_percent", miss_probability(asked_rate, w.trials)}});
  }
  out["joint_miss_probability_at_1_percent"] = miss_probability(asked_rate, all);
  return out;
}

std::string trials_table(const Verdict& verdict, bool colour) {
  Table table({{"workload", Align::left},
               {"trials", Align::right},
               {"failures", Align::right},
               {"failure rate at 95 %", Align::right},
               {"1 % would pass with", Align::right}});
  std::uint64_t all = 0;
  for (const WorkloadTrials& w : verdict.workloads) {
    all += w.trials;
    table.row({w.uuid, std::to_string(w.trials), std::to_string(w.failures),
               w.failures > 0 ? "-" : fmt::format("< {:.2f} %", 100 * failure_rate_bound(w.trials)),
               fmt::format("{:.2g}", miss_probability(asked_rate, w.trials))});
  }
  return table.text(colour) +
         fmt::format("a kernel wrong in 1 % of its calls everywhere would pass all {} trials with "
                     "probability {:.2g}",
                     all, miss_probability(asked_rate, all));
}

} // namespace

void add_replay(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("replay", "judge an archived probe or record again and report drift");
  struct Options {
    std::string id, budget = "2m";
    ReplayOptions replay;
    bool no_timing = false;
  };
  auto o = std::make_shared<Options>();
  command->add_option("id", o->id, "record or probe id, or a unique prefix")->required();
  CLI::Option* gate =
      command->add_option("--gate", o->replay.gate, "trials (default: as it was judged)")
          ->check(CLI::IsMember({"smoke", "gate", "accept", "champion"}));
  command
      ->add_option("--trials", o->replay.trials,
                   "so many fresh trials of every workload, and what they exclude")
      ->excludes(gate);
  command->add_flag("--all-workloads", o->replay.all_workloads,
                    "also workloads that the probe was not judged on");
  command->add_flag("--fresh", o->replay.fresh_seed,
                    "fresh secret inputs instead of the revealed seed's");
  command->add_flag("--no-timing", o->no_timing, "correctness only");
  command->add_option("--timing-budget", o->budget, "most time for each timing stage")
      ->capture_default_str();
  command->callback([&context, o] {
    context.run = [&context, o]() -> int {
      const Result<double> seconds = parse_duration(o->budget);
      if (!seconds)
        return report_error(context, seconds.error());
      const Result<Workspace> workspace = open_workspace(context.workspace);
      if (!workspace)
        return report_error(context, workspace.error());
      o->replay.timing = !o->no_timing;
      o->replay.timing_seconds = *seconds;
      o->replay.judging.stop = [] { return interrupted(); };
      if (!context.json)
        o->replay.judging.note = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
      const Result<Replay> done = replay(*workspace, o->id, o->replay);
      if (!done)
        return report_error(context, done.error());
      if (context.json) {
        nlohmann::ordered_json out{{"drift", done->drift},
                                   {"before", probe_to_json(done->before)},
                                   {"after", probe_to_json(done->after)}};
        if (o->replay.trials > 0)
          out["excluded"] = excluded_json(done->after.verdict);
        fmt::print("{}\n",
                   out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
      } else {
        fmt::print("{}\n", render_verdict(done->after.verdict, {.name = done->after.solution.name,
                                                                .next_command = "",
                                                                .colour = coloured()}));
        if (o->replay.trials > 0)
          fmt::print("{}\n", trials_table(done->after.verdict, coloured()));
        for (const std::string& d : done->drift)
          fmt::print("drift: {}\n", d);
        if (done->drift.empty())
          fmt::print("no drift: everything the record claims holds again\n");
      }
      return done->drift.empty() ? holds : does_not_hold;
    };
  });
}

} // namespace kw::cli
