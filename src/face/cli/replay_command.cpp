// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "face/cli/duration.hpp"
#include "formats/verdict_json.hpp"
#include "os/interrupt.hpp"
#include "report/verdict_text.hpp"
#include "service/replay.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {

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
  command->add_option("--gate", o->replay.gate, "trials (default: as it was judged)")
      ->check(CLI::IsMember({"smoke", "gate", "accept", "champion"}));
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
      const Result<Replay> done = replay(*workspace, o->id, o->replay);
      if (!done)
        return report_error(context, done.error());
      if (context.json) {
        nlohmann::ordered_json out{{"drift", done->drift},
                                   {"before", probe_to_json(done->before)},
                                   {"after", probe_to_json(done->after)}};
        fmt::print("{}\n",
                   out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
      } else {
        fmt::print("{}\n", render_verdict(done->after.verdict, {.name = done->after.solution.name,
                                                                .next_command = "",
                                                                .colour = coloured()}));
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
