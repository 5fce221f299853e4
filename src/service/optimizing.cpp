// SPDX-License-Identifier: Apache-2.0
#include "service/optimizing.hpp"

#include "archive/sqlite_archive.hpp"
#include "base/json.hpp"
#include "formats/solution_json.hpp"
#include "formats/verdict_json.hpp"
#include "os/file_lock.hpp"
#include "os/files.hpp"
#include "report/render.hpp"
#include "service/crossover.hpp"
#include "service/lease.hpp"
#include "service/profiling.hpp"
#include "service/proposing.hpp"
#include "service/spaces.hpp"
#include "service/steering_run.hpp"
#include "stats/e_gate.hpp"
#include "target/cpu/ceilings.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using nlohmann::ordered_json;

ordered_json options_json(const OptimizeOptions& o, const JudgingOptions& judging) {
  return {{"seconds", o.seconds},
          {"gate_seconds", o.gate_seconds},
          {"evaluations", o.evaluations},
          {"seed", o.seed},
          {"screen_rounds", o.screen_rounds},
          {"final_gate", o.final_gate},
          {"peers", o.peers},
          {"least_window_ns", o.race.least_window_ns},
          {"objective", name(o.race.objective)},
          {"workloads", judging.workloads},
          {"threads", judging.threads},
          {"without", switched_off(o.parts)},
          {"strategy", std::string(name(o.strategy))},
          {"judge_whole", o.judge_whole},
          {"proposers", o.proposers},
          {"references", o.references},
          {"proposer_seconds", o.proposer_seconds},
          {"attended_seconds", o.attended_seconds},
          {"approval", o.approval},
          {"cpu_seconds", o.cpu_seconds},
          {"tokens", o.tokens},
          {"cost_usd", o.cost_usd}};
}

/// Where a resolved value came from, as the report shows it.
std::string origin_of(const std::string& key, const OptimizeRequest& request) {
  if (!request.resume.empty())
    return "run " + request.resume;
  static const std::map<std::string, std::string> options{{"seconds", "budget"},
                                                          {"final_gate", "gate"},
                                                          {"peers", "no-peers"},
                                                          {"least_window_ns", "least-window"},
                                                          {"workloads", "workload"},
                                                          {"proposers", "proposer"},
                                                          {"references", "reference"},
                                                          {"proposer_seconds", "proposer-time"},
                                                          {"attended_seconds", "attended"},
                                                          {"cpu_seconds", "cpu-budget"},
                                                          {"tokens", "token-budget"},
                                                          {"cost_usd", "cost-budget"}};
  const auto renamed = options.find(key);
  const auto origin = request.origins.find(renamed == options.end() ? key : renamed->second);
  return origin == request.origins.end() ? "default" : origin->second;
}

/// A resumed run goes on with what it was started with; the sandbox tier is asked for anew.
Status options_from_json(const std::string& text, OptimizeOptions& o, JudgingOptions& judging) {
  KW_TRY(const Json json, parse_json({.file = "run options", .text = text}));
  if (!json.is_object())
    return fail(ErrorKind::invalid_input, "the stored options of the run are damaged",
                "start a new run");
  o.seconds = json.value("seconds", o.seconds);
  o.gate_seconds = json.value("gate_seconds", o.gate_seconds);
  o.evaluations = json.value("evaluations", o.evaluations);
  o.seed = json.value("seed", o.seed);
  o.screen_rounds = json.value("screen_rounds", o.screen_rounds);
  o.final_gate = json.value("final_gate", o.final_gate);
  o.peers = json.value("peers", o.peers);
  o.race.least_window_ns = json.value("least_window_ns", o.race.least_window_ns);
  if (const auto objective = objective_from_name(json.value("objective", "weighted")))
    o.race.objective = *objective;
  judging.workloads = json.value("workloads", judging.workloads);
  judging.threads = json.value("threads", judging.threads);
  o.proposers = json.value("proposers", o.proposers);
  o.references = json.value("references", o.references);
  o.proposer_seconds = json.value("proposer_seconds", o.proposer_seconds);
  o.attended_seconds = json.value("attended_seconds", o.attended_seconds);
  o.approval = json.value("approval", o.approval);
  o.cpu_seconds = json.value("cpu_seconds", o.cpu_seconds);
  o.tokens = json.value("tokens", o.tokens);
  o.cost_usd = json.value("cost_usd", o.cost_usd);
  for (const std::string& part : json.value("without", std::vector<std::string>{}))
    switch_off(o.parts, part);
  o.strategy =
      algorithm_from_name(json.value("strategy", std::string())).value_or(Algorithm::hybrid);
  o.judge_whole = json.value("judge_whole", true);
  return {};
}

/// The newest search probes of other runs with this compiler on this machine, and how directions
/// fared in them; older than a month they have expired.
Result<Knowledge> known_of_earlier_runs(Archive& archive, const Run& run,
                                        const std::string& runs_folder, const Environment& here,
                                        const std::string& since) {
  constexpr std::size_t newest = 1000;
  KW_TRY(const std::vector<ProbeRow> rows,
         archive.list_probes(
             {.definition = run.definition, .run = {}, .decision = {}, .limit = newest}));
  Knowledge out;
  KW_TRY(const std::vector<Run> runs, archive.list_runs());
  for (const Run& earlier : runs) {
    const std::string log = join_path(runs_folder, earlier.id + "/decisions.jsonl");
    if (earlier.definition == run.definition && earlier.id != run.id &&
        earlier.started_at >= since && is_file(log)) {
      KW_TRY(const std::string text, read_file(log));
      learn_directions(text, out.directions);
    }
  }
  for (const ProbeRow& row : rows) {
    if (row.run.empty() || row.run == run.id || row.started_at < since)
      continue;
    KW_TRY(const ArchivedProbe stored, archive.get_probe(row.id));
    KW_TRY(const Probe probe, decode_probe(stored.json));
    if (!probe.regime.empty() && probe.environment.hardware == here.hardware &&
        probe.environment.compiler == here.compiler)
      out.attempts.push_back(known_attempt(probe));
  }
  return out;
}

std::string outcome_word(const Verdict& verdict) {
  switch (verdict.finding) {
  case Finding::none:
    return "correct";
  case Finding::build:
  case Finding::admission:
    return "build";
  case Finding::wrong:
  case Finding::state:
  case Finding::nondeterminism:
    return "wrong";
  case Finding::timing:
    return "timing";
  default:
    return "crash";
  }
}

ReportProbe report_probe(int index, double seconds, const Probe& probe) {
  ReportProbe out;
  out.index = index;
  out.seconds = seconds;
  out.id = probe.id;
  out.hypothesis = probe.hypothesis;
  out.outcome = outcome_word(probe.verdict);
  out.finding = name(probe.verdict.finding);
  out.decision = probe.decision;
  out.reason = probe.reason;
  if (probe.estimate)
    out.speedup = std::exp(*probe.estimate);
  return out;
}

ReportRound report_round(const RoundRecord& r) {
  ReportRound out{.regime = r.regime,
                  .number = r.plan.number,
                  .state = r.state,
                  .direction =
                      r.plan.direction == nullptr ? "model" : std::string(r.plan.direction->id),
                  .proposer = r.proposer,
                  .why = r.plan.why,
                  .predicted = r.plan.predicted,
                  .measured = std::exp(r.result.after - r.result.before),
                  .tried = r.result.tried,
                  .valid = r.result.valid,
                  .intervention = {}};
  if (r.plan.intervention)
    out.intervention =
        fmt::format("{} ({}): {}", r.plan.intervention->detector, r.plan.intervention->evidence,
                    name(r.plan.intervention->recovery));
  return out;
}

void fill_search(const OptimizeOutcome& outcome, OptimizeReport& report) {
  double weight = 0;
  for (const Regime& regime : outcome.regimes)
    weight += regime.weight;
  for (const BranchRecord& b : outcome.branches) {
    const Regime& regime = outcome.regimes[b.regime];
    report.branches.push_back({.regime = regime.name,
                               .condition = regime.condition,
                               .workloads = regime.workloads.size(),
                               .share = weight > 0 ? regime.weight / weight : 0,
                               .kernel = b.hypothesis,
                               .proposer = b.proposer,
                               .speedup = b.speedup,
                               .state = b.state,
                               .confidence = b.confidence,
                               .headroom = b.headroom});
  }
  for (const Steering& s : outcome.steering)
    report.steering.emplace_back(
        s.by, fmt::format("{} {}{}", s.kind, s.direction, s.text.empty() ? "" : ": " + s.text));
}

Result<ReportCost> cost_of(Archive& archive, const std::string& definition,
                           const OptimizeOutcome& outcome) {
  ReportCost cost{.search_seconds = outcome.search_seconds,
                  .cpu_seconds = outcome.cpu_seconds,
                  .tokens = outcome.usage.tokens,
                  .cost_usd = outcome.usage.cost_usd,
                  .evaluations = outcome.events.size()};
  KW_TRY(const std::vector<Run> runs, archive.list_runs());
  for (const Run& run : runs)
    cost.all_runs += run.definition == definition ? 1 : 0;
  KW_TRY(const std::vector<ProbeRow> rows, archive.list_probes({.definition = definition}));
  for (const ProbeRow& row : rows) {
    if (row.run.empty())
      continue;
    ++cost.all_probes;
    cost.all_seconds += row.wall_ms / 1e3;
    cost.all_promotions += row.decision == "promote" ? 1 : 0;
  }
  return cost;
}

void fill_workloads(const Judge& judge, const Probe& champion, const std::string& baseline,
                    OptimizeReport& report) {
  if (!champion.verdict.times)
    return;
  const TimingEvidence& times = *champion.verdict.times;
  const std::vector<PairedTiming>& from =
      times.confirmation.empty() ? times.gate : times.confirmation;
  const auto middle = [](std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  };
  for (const BoundWorkload& w : judge.workloads()) {
    ReportWorkload row;
    row.uuid = w.workload.uuid;
    row.axes =
        w.twins.empty() ? w.axes_text : fmt::format("{} (x{})", w.axes_text, 1 + w.twins.size());
    row.weight = w.timing_weight;
    row.count = 1 + w.twins.size();
    for (const PairedTiming& p : from) {
      if (p.uuid != row.uuid || p.log_ratios.empty())
        continue;
      if (p.baseline != baseline) {
        row.peers_ns[p.baseline] = middle(p.baseline_ns);
        continue;
      }
      row.baseline_ns = middle(p.baseline_ns);
      row.candidate_ns = middle(p.candidate_ns);
      row.speedup = p.speedup, row.low = p.low, row.high = p.high;
      row.floor_ns = p.floor_ns;
      row.bound_fraction = p.floor_ns > 0 ? p.floor_ns / row.candidate_ns : 0;
    }
    if (row.candidate_ns > 0)
      report.workloads.push_back(std::move(row));
  }
}

Status write_reports(const OptimizeResult& result) {
  KW_CHECK(make_dirs(result.folder));
  KW_CHECK(write_file_atomic(join_path(result.folder, "report.html"), html_report(result.report)));
  KW_CHECK(
      write_file_atomic(join_path(result.folder, "report.md"), markdown_report(result.report)));
  KW_CHECK(write_file_atomic(join_path(result.folder, "probes.csv"), probes_csv(result.report)));
  KW_CHECK(
      write_file_atomic(join_path(result.folder, "workloads.csv"), workloads_csv(result.report)));
  if (result.outcome.champion)
    KW_CHECK(write_file_atomic(join_path(result.folder, "solution.json"),
                               encode_solution(result.outcome.champion->solution) + "\n"));
  else if (result.outcome.winner)
    KW_CHECK(write_file_atomic(join_path(result.folder, "solution.json"),
                               encode_solution(*result.outcome.winner) + "\n"));
  return {};
}

} // namespace

Result<OptimizeResult> run_optimize(const Workspace& workspace, const OptimizeRequest& request) {
  KW_TRY(const std::unique_ptr<Archive> archive, open_sqlite_archive(workspace.state_dir));
  const SystemClock clock;
  OptimizeOptions options = request.options;
  JudgingOptions judging = request.judging;
  Run run;
  if (!request.resume.empty()) {
    KW_TRY(run, archive->get_run(request.resume));
    if (run.state == "finished" && !request.again)
      return fail(ErrorKind::refused, fmt::format("run {} is finished", run.id),
                  "start a new run, or `kernwright replay` its record");
    KW_CHECK(options_from_json(run.options, options, judging));
  } else {
    run.definition = request.definition;
    run.options = options_json(options, judging).dump();
    run.started_at = clock.wall_iso8601();
  }
  KW_TRY(const Task task, find_task(workspace, run.definition));
  KW_TRY(const std::vector<LoadedSpace> spaces, load_spaces(task.definition));
  const bool tunes = options.proposers.empty() ||
                     std::count(options.proposers.begin(), options.proposers.end(), "tuner") > 0;
  if (spaces.empty() && tunes)
    return fail(ErrorKind::unsupported,
                fmt::format("`{}` has no kernel templates, so the tuner has nothing to vary",
                            task.definition.name),
                "list *.space.json files under x_kernwright.templates (docs/tuner.md), or name "
                "other proposers (--proposer directory:PATH), or judge a kernel of your own with "
                "`kernwright evaluate`",
                task.definition.file);
  KW_TRY(const Solution baseline, baseline_solution(task.definition));
  // What cannot work is said before anybody waits.
  KW_TRY(const auto tried, open_proposers({.archive = *archive,
                                           .task = task,
                                           .options = options,
                                           .run = request.resume,
                                           .folder = workspace.state_dir,
                                           .stop = request.hooks.stop}));
  (void)tried;
  // The whole search times: nothing else may time on this machine meanwhile.
  KW_TRY(const FileLock lease,
         timing_lease("optimize " + run.definition, request.hooks.note, request.hooks.stop));
  if (!stored_ceilings(workspace.cache_dir)) {
    request.hooks.note("measuring this machine's ceilings (once, a few seconds)");
    KW_TRY(const Ceilings measured, cached_ceilings(workspace.cache_dir, false));
    (void)measured;
  }
  KW_TRY(const Bench bench, open_bench(workspace, task, judging));
  run.state = "running";
  if (request.resume.empty()) {
    KW_TRY(run.id, archive->begin_run(run));
  } else {
    KW_CHECK(archive->update_run(run));
  }

  OptimizeResult result{
      .run = run.id, .outcome = {}, .report = {}, .folder = {}, .workloads = {}, .winner_hash = {}};
  result.folder = join_path(workspace.state_dir, "runs/" + run.id);
  KW_CHECK(make_dirs(result.folder));
  RunMemory memory{
      .journal = {}, .log = DecisionLog(join_path(result.folder, "decisions.jsonl")), .known = {}};
  KW_TRY(memory.journal, Journal::open(join_path(result.folder, "journal.jsonl")));
  if (!request.recorded.empty())
    KW_CHECK(memory.journal.answer_from(request.recorded));
  if (request.resume.empty()) {
    constexpr std::int64_t month_ns = std::int64_t{30} * 86'400 * 1'000'000'000;
    KW_TRY(memory.known,
           known_of_earlier_runs(*archive, run, parent_path(result.folder), bench.environment,
                                 iso8601_utc(clock.wall_ns() - month_ns)));
  }
  Recorder recorder(*archive, clock, bench.environment, bench.judge->definition());
  recorder.run = run.id;
  KW_TRY(const std::uint64_t attempts, archive->attempts(run.definition));
  options.final_alpha = std::min(options.final_alpha, spent_alpha(attempts + 1));
  options.race.warm = bench.judge->definition().ext.protocol != "cold";
  if (options.peers)
    options.peer_list = peers_of(bench.judge->definition());
  OptimizeHooks hooks = request.hooks;
  hooks.profile = bottleneck_profiler(workspace, bench);
  if (options.judge_whole) // else nobody asks about shapes that are not listed
    hooks.crossover = [&](const Solution& lower, const Solution& higher,
                          const std::vector<Workload>& shapes) {
      return crossover(workspace, task, judging, lower, higher, shapes);
    };
  hooks.steering = [path = steering_path(workspace, run.id)](std::size_t from) {
    return read_steering(path, from);
  };
  KW_TRY(hooks.proposers, open_proposers({.archive = *archive,
                                          .task = task,
                                          .options = options,
                                          .run = run.id,
                                          .folder = join_path(result.folder, "proposals"),
                                          .stop = hooks.stop}));
  Result<OptimizeOutcome> outcome =
      optimize(*bench.judge, baseline, spaces, recorder, options, memory, hooks);
  if (!outcome) {
    run.state = "interrupted";
    KW_CHECK(archive->update_run(run));
    return fail(outcome.error());
  }
  result.outcome = std::move(*outcome);
  run.state = result.outcome.interrupted ? "interrupted" : "finished";
  run.finished_at = clock.wall_iso8601();
  run.champion = result.outcome.champion ? result.outcome.champion->id : "";
  KW_CHECK(archive->update_run(run));

  for (const BoundWorkload& w : bench.judge->workloads())
    result.workloads.push_back(w.workload.uuid);
  if (result.outcome.winner)
    result.winner_hash = recorder.hash_of(*result.outcome.winner);
  OptimizeReport& report = result.report;
  report.run = run.id;
  report.definition = task.definition.name;
  report.description = task.definition.description;
  report.version = KW_VERSION;
  report.started_at = run.started_at;
  report.wall_seconds = result.outcome.total_seconds;
  report.budget = fmt::format("{:.0f} s", options.seconds);
  report.environment = {
      {"machine", bench.environment.hardware}, {"compiler", bench.environment.compiler},
      {"flags", bench.environment.flags},      {"kernel", bench.environment.kernel},
      {"sandbox", bench.judge->tier()},        {"oracle", bench.judge->oracle().mode}};
  const ordered_json resolved = options_json(options, judging);
  for (const auto& [key, value] : resolved.items())
    report.options.push_back({key, value.dump(), origin_of(key, request)});
  report.baseline = baseline.name;
  for (const ProbeEvent& e : result.outcome.events)
    report.probes.push_back(report_probe(e.index, e.seconds, e.probe));
  for (const RoundRecord& r : result.outcome.rounds)
    report.rounds.push_back(report_round(r));
  fill_search(result.outcome, report);
  KW_TRY(report.cost, cost_of(*archive, run.definition, result.outcome));
  if (result.outcome.champion) {
    const Probe& champion = *result.outcome.champion;
    report.contributions = champion.contributions;
    report.champion = champion.solution.name;
    report.verdict = champion.verdict;
    report.sources = champion.solution.sources;
    report.seed_commitment = champion.seed_commitment;
    report.seed = champion.seed;
    report.record = result.outcome.record ? result.outcome.record->id : "";
    report.replay_command =
        fmt::format("kernwright replay {:.12}",
                    result.outcome.record ? result.outcome.record->id : champion.id);
    fill_workloads(*bench.judge, champion, baseline.name, report);
    for (const ReportWorkload& w : report.workloads)
      for (const auto& [peer, ns] : w.peers_ns)
        if (std::find(report.peers.begin(), report.peers.end(), peer) == report.peers.end())
          report.peers.push_back(peer);
  }
  KW_CHECK(write_reports(result));
  return result;
}

} // namespace kw
