// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "face/cli/duration.hpp"
#include "face/cli/judging_flags.hpp"
#include "face/cli/search_progress.hpp"
#include "formats/verdict_json.hpp"
#include "os/interrupt.hpp"
#include "report/escape.hpp"
#include "report/render.hpp"
#include "report/verdict_text.hpp"
#include "service/campaign.hpp"
#include "service/campaign_rows.hpp"
#include "service/optimizing.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kw::cli {
namespace {

using nlohmann::ordered_json;

void print_text(const OptimizeResult& result) {
  const OptimizeReport& report = result.report;
  fmt::print("\n{}; search {:.1f} s, {:.1f} s in all\n\n", probe_counts(report),
             result.outcome.search_seconds, result.outcome.total_seconds);
  if (result.outcome.interrupted)
    fmt::print("interrupted: nothing is lost. Continue with: kernwright optimize --resume {}\n",
               result.run);
  if (!result.outcome.champion) {
    fmt::print("no winner. report  {}/report.html\n", result.folder);
    return;
  }
  fmt::print("{}", workloads_table(report, coloured()));
  if (const std::string one = aggregates_text(report); !one.empty())
    fmt::print("\n{}", one);
  const Probe& champion = *result.outcome.champion;
  std::map<std::string, std::string> axes;
  for (const ReportWorkload& w : report.workloads)
    axes[w.uuid] = w.axes;
  fmt::print("\n{}", render_verdict(champion.verdict, {.name = champion.solution.name,
                                                       .next_command = report.replay_command,
                                                       .workload_axes = axes,
                                                       .colour = coloured()}));
  if (!result.outcome.record && champion.proposer == "baseline")
    fmt::print("\nno winner: `{}` stands, no candidate beat it\n",
               terminal_text(champion.solution.name));
  if (result.outcome.record)
    fmt::print("\npromoted  {}  {:.2f}x [{:.2f}, {:.2f}] vs {}   record {:.12}\n",
               champion.solution.name, result.outcome.record->speedup, result.outcome.record->low,
               result.outcome.record->high, result.outcome.record->baseline,
               result.outcome.record->id);
  fmt::print("report    {0}/report.html\nsolution  {0}/solution.json\nreplay    {1}\n",
             result.folder, report.replay_command);
}

void print_json(const OptimizeResult& result) {
  ordered_json out{{"run", result.run},
                   {"definition", result.report.definition},
                   {"interrupted", result.outcome.interrupted},
                   {"probes", result.report.probes.size()},
                   {"folder", result.folder},
                   {"search_seconds", result.outcome.search_seconds},
                   {"total_seconds", result.outcome.total_seconds},
                   {"promoted", result.outcome.record.has_value()},
                   {"usage",
                    {{"tokens", result.outcome.usage.tokens},
                     {"cost_usd", result.outcome.usage.cost_usd},
                     {"cpu_seconds", result.outcome.cpu_seconds}}},
                   {"workloads", ordered_json::array()}};
  for (const ReportWorkload& w : result.report.workloads)
    out["workloads"].push_back({{"uuid", w.uuid},
                                {"axes", w.axes},
                                {"weight", w.weight},
                                {"baseline_ns", w.baseline_ns},
                                {"candidate_ns", w.candidate_ns},
                                {"speedup", w.speedup},
                                {"low", w.low},
                                {"high", w.high},
                                {"floor_ns", w.floor_ns},
                                {"peers_ns", w.peers_ns}});
  const Aggregates a = aggregates(result.report);
  if (a.geomean > 0)
    out["aggregates"] = {
        {"weighted_geomean", a.weighted_geomean}, {"geomean", a.geomean},
        {"mean_of_ratios", a.mean_of_ratios},     {"ratio_of_means", a.ratio_of_means},
        {"mean_baseline_ns", a.mean_baseline},    {"mean_candidate_ns", a.mean_candidate},
        {"p95_baseline_ns", a.p95_baseline},      {"p95_candidate_ns", a.p95_candidate}};
  if (result.outcome.champion)
    out["champion"] = probe_to_json(*result.outcome.champion);
  if (result.outcome.record)
    out["record"] = result.outcome.record->id;
  fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

int run_campaign_of(const Context& context, CampaignRequest& request) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  if (request.file.empty())
    request.file = workspace->operators + "/contest.campaign.json";
  SearchProgress progress(context.json);
  progress.watch(request.base);
  const Result<CampaignResult> result = run_campaign(*workspace, request);
  progress.clear();
  if (!result)
    return report_error(context, result.error());
  const CampaignReport& report = result->report;
  if (context.json) {
    ordered_json rows = ordered_json::array();
    for (const CampaignRow& row : report.rows)
      rows.push_back(to_json(row));
    fmt::print("{}\n", ordered_json{{"campaign", report.name},
                                    {"interrupted", result->interrupted},
                                    {"score", campaign_score(report)},
                                    {"folder", result->folder},
                                    {"rows", rows}}
                           .dump(2));
  } else {
    fmt::print("\n{}\nresults   {}/results.md\n", campaign_table(report, coloured()),
               result->folder);
  }
  if (result->interrupted)
    return interrupted_exit;
  const bool all = std::all_of(report.rows.begin(), report.rows.end(),
                               [](const CampaignRow& row) { return row.state == "promoted"; });
  return all ? holds : does_not_hold;
}

int run(const Context& context, OptimizeRequest& request) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  if (request.definition.empty() == request.resume.empty())
    return report_error(context,
                        {ErrorKind::invalid_input, "name one definition, or one run with --resume",
                         "`kernwright check --list` shows the definitions", ""});
  SearchProgress progress(context.json);
  progress.watch(request);
  const Result<OptimizeResult> result = run_optimize(*workspace, request);
  progress.clear();
  if (!result)
    return report_error(context, result.error());
  context.json ? print_json(*result) : print_text(*result);
  if (result->outcome.interrupted)
    return interrupted_exit;
  return result->outcome.record ? holds : does_not_hold;
}

} // namespace

void add_optimize(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "optimize", "the main job: search a fast kernel for a definition and prove it");
  struct Options {
    OptimizeRequest request;
    std::string budget = "5m";
    double least_window_ms = 0;
    bool no_peers = false;
    std::string proposer_time = "10m", attended, cpu_budget;
    std::vector<std::string> without;
    std::string strategy{name(Algorithm::hybrid)};
    CampaignRequest campaign;
    bool all_contest = false;
  };
  auto o = std::make_shared<Options>();
  command->add_option("definition", o->request.definition,
                      "name of a definition, or path of its file");
  command->add_option("--budget", o->budget, "time for the search, e.g. 90s, 5m, 2h")
      ->capture_default_str();
  command
      ->add_option("--evaluations", o->request.options.evaluations,
                   "most candidates (default: as many as the time allows)")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--seed", o->request.options.seed,
                      "seed of the tuner; the secret input seeds are always fresh");
  command
      ->add_option("--gate", o->request.options.final_gate,
                   "trials for the winner: gate 59, accept 299, champion 459")
      ->check(CLI::IsMember({"gate", "accept", "champion"}))
      ->capture_default_str();
  add_judging_flags(*command, o->request.judging, o->least_window_ms);
  add_objective_flag(*command, o->request.options.race.objective);
  command->add_option("--resume", o->request.resume, "continue an interrupted run by its id");
  command->add_flag("--no-peers", o->no_peers,
                    "do not time peers (OpenBLAS, PyTorch) beside the winner");
  command
      ->add_option("--recorded", o->request.recorded,
                   "journal of another run (journal.jsonl): take its evaluations instead of "
                   "making new ones; the decisions come out the same")
      ->check(CLI::ExistingFile);
  command->add_option("--without", o->without, "switch a part of the controller off (repeatable)")
      ->check(CLI::IsMember(controller_part_names()));
  command
      ->add_option("--strategy", o->strategy,
                   "how the tuner chooses; random does without the known good configurations too")
      ->check(CLI::IsMember(algorithm_names()))
      ->capture_default_str();
  command
      ->add_option("--proposer", o->request.options.proposers,
                   "who puts candidates forward (repeatable, they take turns): tuner (default), "
                   "directory:PATH, command:'PROGRAM {request} {out}', replay:RUN; "
                   "docs/proposers.md")
      ->check([](const std::string& text) -> std::string {
        const Result<ProposerSpec> spec = parse_proposer(text);
        return spec ? std::string{} : spec.error().text();
      });
  command
      ->add_option("--proposer-time", o->proposer_time, "most that one call of a command may take")
      ->capture_default_str();
  command->add_option("--reference", o->request.options.references,
                      "kernel to begin with, PATH or PATH@COMMIT (repeatable): judged and timed "
                      "before anything is proposed");
  command->add_option("--attended", o->attended,
                      "somebody is there: at a plateau wait this long for `kernwright steer`");
  command->add_flag("--approval", o->request.options.approval,
                    "judge the winner whole only after `kernwright steer RUN --approve`");
  command->add_option("--cpu-budget", o->cpu_budget, "CPU time for the search, e.g. 10m");
  command->add_option("--token-budget", o->request.options.tokens, "tokens for a command")
      ->check(at_most(1e15));
  command->add_option("--cost-budget", o->request.options.cost_usd, "US dollars for a command")
      ->check(at_most(1e9));
  CLI::Option* const campaign =
      command->add_option("--campaign", o->campaign.file,
                          "optimise the definitions of this file one after the other and replay "
                          "what is promoted; the same command goes on where it stopped");
  command->add_flag("--all-contest", o->all_contest, "the campaign of the five contest operators")
      ->excludes(campaign);
  command->add_flag("--fresh", o->campaign.fresh, "a campaign begins anew");
  command->footer(
      "  kernwright optimize softmax_f32 --budget 60s\n"
      "  kernwright optimize softmax_f32 --proposer tuner --proposer directory:ideas\n"
      "Ctrl-C stops the search cleanly; --resume continues it. Every probe is in the archive.");
  command->callback([&context, o] {
    context.run = [&context, o]() -> int {
      const Result<double> seconds = parse_duration(o->budget);
      if (!seconds)
        return report_error(context, seconds.error());
      OptimizeOptions& options = o->request.options;
      for (const auto& [text, into] : {std::pair{&o->proposer_time, &options.proposer_seconds},
                                       std::pair{&o->attended, &options.attended_seconds},
                                       std::pair{&o->cpu_budget, &options.cpu_seconds}}) {
        if (text->empty())
          continue;
        const Result<double> duration = parse_duration(*text);
        if (!duration)
          return report_error(context, duration.error());
        *into = *duration;
      }
      o->request.options.seconds = *seconds;
      o->request.options.race.least_window_ns = o->least_window_ms * 1e6;
      o->request.options.peers = !o->no_peers;
      for (const std::string& part : o->without)
        switch_off(o->request.options.parts, part);
      o->request.options.strategy = *algorithm_from_name(o->strategy);
      o->request.origins = context.origins;
      if (o->all_contest || !o->campaign.file.empty()) {
        o->campaign.base = o->request;
        return run_campaign_of(context, o->campaign);
      }
      return run(context, o->request);
    };
  });
}

} // namespace kw::cli
