// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "service/steering_run.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {
namespace {

struct SteerOptions {
  std::string run, prefer, block, note, by;
  bool hand_over = false, approve = false, decline = false;
  double minutes = 0;
};

Result<Steering> steering_of(const SteerOptions& o) {
  Steering s{
      .kind = "note", .direction = {}, .text = o.note, .by = o.by, .at = {}, .minutes = o.minutes};
  int asked = 0;
  const auto take = [&](bool given, const char* kind, const std::string& direction = {}) {
    if (!given)
      return;
    ++asked;
    s.kind = kind, s.direction = direction;
  };
  take(!o.prefer.empty(), "prefer", o.prefer);
  take(!o.block.empty(), "block", o.block);
  take(o.hand_over, "hand-over");
  take(o.approve, "approve");
  take(o.decline, "decline");
  if (asked > 1 || (asked == 0 && o.note.empty()))
    return fail(ErrorKind::invalid_input,
                asked > 1 ? "one thing at a time" : "there is nothing to say",
                "give one of --prefer, --block, --hand-over, --approve, --decline, or a --note");
  return s;
}

int run_steer(const Context& context, const SteerOptions& options) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  const Result<Steering> steering = steering_of(options);
  if (!steering)
    return report_error(context, steering.error());
  if (const Status done = steer_run(*workspace, options.run, *steering); !done)
    return report_error(context, done.error());
  if (context.json)
    fmt::print("{}\n",
               nlohmann::ordered_json{{"run", options.run}, {"kind", steering->kind}}.dump());
  else
    fmt::print("noted for run {}: {} {}\n", options.run, steering->kind, steering->direction);
  return holds;
}

} // namespace

void add_steer(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("steer", "say something to a run that goes on: it listens between rounds");
  auto o = std::make_shared<SteerOptions>();
  const char* const user = std::getenv("USER");
  o->by = user != nullptr ? user : "somebody";
  command->add_option("run", o->run, "id of the run")->required();
  command->add_option("--prefer", o->prefer, "direction of the next round (docs/controller.md)");
  command->add_option("--block", o->block, "direction that is not taken any more in this regime");
  command->add_flag("--hand-over", o->hand_over, "end this regime: its time goes to the others");
  command->add_flag("--approve", o->approve, "let the winner be judged (optimize --approval)");
  command->add_flag("--decline", o->decline, "do not");
  command->add_option("--note", o->note, "why, in your own words");
  command->add_option("--minutes", o->minutes, "of your time that this took: the record keeps it")
      ->check(at_most(1440));
  command->add_option("--by", o->by, "who says it")->capture_default_str();
  command->footer("  kernwright steer 0007 --prefer prefetch --minutes 5 --note 'gathers stall'");
  command->callback(
      [&context, o] { context.run = [&context, o]() -> int { return run_steer(context, *o); }; });
}

} // namespace kw::cli
