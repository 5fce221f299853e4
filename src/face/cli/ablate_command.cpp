// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "os/interrupt.hpp"
#include "report/escape.hpp"
#include "report/units.hpp"
#include "service/ablating.hpp"
#include "service/ablation_results.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

namespace kw::cli {
namespace {

/// One line per finished run or race; on a terminal the one under way is shown in place.
class AblationProgress {
 public:
  explicit AblationProgress(bool quiet)
      : quiet_(quiet), live_(!quiet && isatty(STDERR_FILENO) == 1) {}

  void planned(const std::string& id, const AblationPlan& plan, std::size_t left, double seconds) {
    plan_ = plan;
    left_ = left;
    if (quiet_)
      return;
    const AblationOptions& o = plan.options;
    fmt::print(stderr, "ablation {}: {} with {} evaluations each, {} seeds, {} definitions\n", id,
               fmt::join(o.arms, ", "), o.evaluations, o.seeds, plan.tasks.size());
    for (const AblationTask& task : plan.tasks) {
      std::vector<std::string> workloads;
      for (const AblationWorkload& w : task.workloads)
        workloads.push_back(fmt::format("{} ({}{})", w.axes, duration_text(w.call_ns),
                                        w.medoid ? "" : ", not the medoid"));
      fmt::print(stderr, "  {}: {}\n", terminal_text(task.definition),
                 terminal_text(fmt::format("{}", fmt::join(workloads, ", "))));
      for (const std::string& why : task.left_out)
        fmt::print(stderr, "    left out: {}\n", terminal_text(why));
    }
    fmt::print(stderr, "{} of {} runs and races to do, about {}; Ctrl-C stops, nothing is lost\n",
               left, ablation_steps(plan).size(), clock_text(seconds));
    if (left > 0)
      fmt::print(stderr, "\n{:>9}  {:>8}  {:<34} {:>4}  {:<14} {}\n", "done", "left", "definition",
                 "seed", "arm", "result");
  }

  void finished(const AblationStep& step, const std::string& result, double seconds_left) {
    ++done_;
    if (quiet_)
      return;
    clear();
    fmt::print(stderr, "{:>9}  {:>8}  {:<34} {:>4}  {:<14} {}\n",
               fmt::format("{}/{}", done_, left_), clock_text(seconds_left),
               terminal_text(plan_.tasks[step.task].definition), step.seed,
               step.is_race() ? "race" : step.arm, terminal_text(result));
  }

  void step(const AblationStep& step, int done, int of) {
    if (!live_)
      return;
    fmt::print(stderr, "\r\033[K  {} seed {} {}: {} of {}",
               terminal_text(plan_.tasks[step.task].definition), step.seed,
               step.is_race() ? "race" : step.arm, done, of);
    std::fflush(stderr);
    dirty_ = true;
  }

  void note(const std::string& text) {
    if (quiet_)
      return;
    clear();
    fmt::print(stderr, "{}\n", terminal_text(text));
  }

  void clear() {
    if (dirty_)
      fmt::print(stderr, "\r\033[K");
    dirty_ = false;
  }

 private:
  bool quiet_, live_, dirty_ = false;
  AblationPlan plan_;
  std::size_t left_ = 0, done_ = 0;
};

int ablate(const Context& context, AblationRequest& request) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  if (request.definitions.empty() == request.resume.empty())
    return report_error(context, {ErrorKind::invalid_input,
                                  "name definitions, or one ablation with --resume",
                                  "`kernwright check --list` shows the definitions", ""});
  AblationProgress progress(context.json);
  request.judging.stop = [] { return interrupted(); };
  AblationHooks& hooks = request.hooks;
  hooks.stop = [] { return interrupted(); };
  hooks.note = [&](const std::string& text) { progress.note(text); };
  hooks.planned = [&](const std::string& id, const AblationPlan& plan, std::size_t left,
                      double seconds) { progress.planned(id, plan, left, seconds); };
  hooks.finished = [&](const AblationPlan&, const AblationStep& step, const std::string& result,
                       double left) { progress.finished(step, result, left); };
  hooks.progress = [&](const AblationStep& step, int done, int of) {
    progress.step(step, done, of);
  };
  const Result<AblationResult> result = run_ablation(*workspace, request);
  progress.clear();
  if (!result)
    return report_error(context, result.error());
  const AblationReport& report = result->report;
  if (context.json) {
    fmt::print("{}\n", ablation_json(report));
  } else {
    fmt::print("\n{}", ablation_text(report, coloured()));
    if (!report.complete())
      fmt::print("{}. Continue with: {}\n",
                 result->interrupted ? "interrupted: nothing is lost"
                                     : "some races could not be decided",
                 report.resume_command);
    fmt::print("report  {}/report.html\n", result->folder);
  }
  if (result->interrupted)
    return interrupted_exit;
  const bool ranked = std::all_of(report.comparisons.begin(), report.comparisons.end(),
                                  [](const AblationComparison& c) { return c.refused.empty(); });
  return ranked && report.complete() ? holds : does_not_hold;
}

} // namespace

void add_ablate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "ablate", "what the parts of the search are worth: equal budgets, champions raced");
  auto o = std::make_shared<AblationRequest>();
  const auto names = ablation_arm_names();
  command->add_option("definitions", o->definitions,
                      "names of definitions, or paths of their files");
  command
      ->add_option("--arms", o->options.arms,
                   "what to compare: full (all of optimize), tuner (the tuner alone), random "
                   "(random search), no-X (full without X)")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command->add_option("--seeds", o->options.seeds, "how often each is repeated")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--evaluations", o->options.evaluations,
                   "candidates that each arm may try per definition and seed")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--sessions", o->options.sessions,
                   "split the evaluations of an arm over so many runs, one after the other in one "
                   "archive: what memory is for")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--reference", o->options.references,
                      "kernel that arms with references begin with, PATH or PATH@COMMIT "
                      "(repeatable)");
  command
      ->add_option("--longest-call", o->options.longest_call_ms,
                   "longest call of the baseline in ms, on workloads that are chosen")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  command
      ->add_option("--wall-factor", o->options.limits.wall_factor,
                   "arms whose times (without builds) lie further apart are unmatched")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  command->add_option("--workload", o->judging.workloads,
                      "choose among these only: uuid prefix or axis=value (repeatable)");
  command
      ->add_option("--least-window", o->options.least_window_ms,
                   "least length of a timing window in ms (default: calibrated)")
      ->check(at_most(1000));
  command->add_flag("--allow-weak-sandbox", o->judging.allow_weak_sandbox,
                    "run below the definition's sandbox tier");
  command->add_option("--resume", o->resume, "go on with an ablation by its id");
  command->footer(
      "  kernwright ablate softmax_f32 layernorm_f32_h4096\n"
      "  kernwright ablate softmax_f32 --arms full,no-profile,no-directions --seeds 10\n"
      "Each arm makes the same number of evaluations on the same workloads (the medoid of every\n"
      "regime). The champions of a seed are then timed against each other in the same rounds. All "
      "is\n"
      "kept: Ctrl-C stops cleanly, --resume repeats nothing. It times all the while, so leave the\n"
      "machine alone. Exit code 1: some arms did not match, so they are not ranked. More:\n"
      "docs/ablation.md");
  command->callback([&context, o] { context.run = [&context, o] { return ablate(context, *o); }; });
}

} // namespace kw::cli
