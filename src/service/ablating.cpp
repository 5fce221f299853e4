// SPDX-License-Identifier: Apache-2.0
#include "service/ablating.hpp"

#include "archive/sqlite_archive.hpp"
#include "formats/solution_json.hpp"
#include "os/clock.hpp"
#include "os/files.hpp"
#include "report/units.hpp"
#include "service/ablation_plan.hpp"
#include "service/ablation_race.hpp"
#include "service/ablation_results.hpp"
#include "service/ablation_store.hpp"
#include "service/lease.hpp"
#include "service/optimizing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kw {
namespace {

/// Time must not decide, evaluations do: a run that reaches this is unmatched.
constexpr double most_seconds_per_evaluation = 120;
/// Gates inside a search take most of its time: an undecided one some 5 s, where the rest of an
/// evaluation takes 0.1 to 0.5 s. Here they have windows as short as a screen's and end earlier.
constexpr double gate_seconds = 2, gate_window_ms = 1;

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// Who is at work here: what an ablation may not change between its runs.
Result<AblationPlan> plan_here(const Workspace& workspace) {
  KW_TRY(const std::shared_ptr<Builder> builder, open_builder(workspace));
  const Environment here = describe_environment();
  AblationPlan plan;
  plan.version = here.version;
  plan.hardware = here.hardware;
  plan.compiler = builder->compiler().describe();
  plan.flags = builder->flag_text(BuildMode::candidate);
  return plan;
}

Result<AblationStore> begin(const Workspace& workspace, const AblationRequest& request) {
  KW_CHECK(check_ablation(request.options));
  KW_TRY(AblationPlan plan, plan_here(workspace));
  plan.started_at = SystemClock().wall_iso8601();
  plan.options = request.options;
  std::set<std::string> names; // whatever is wrong is said before anything is waited for
  for (const std::string& asked : request.definitions) {
    KW_TRY(const Task task, find_ablation_task(workspace, asked));
    if (!names.insert(task.definition.name).second)
      return fail(ErrorKind::invalid_input,
                  fmt::format("the definition `{}` is named twice", task.definition.name),
                  "name every definition once");
  }
  KW_TRY(const FileLock lease,
         timing_lease("plan of an ablation", request.hooks.note, request.hooks.stop));
  for (const std::string& asked : request.definitions) {
    request.hooks.note(fmt::format("{}: timing the baseline to choose workloads", asked));
    KW_TRY(AblationTask task,
           plan_ablation_task(workspace, asked, request.options, request.judging));
    plan.tasks.push_back(std::move(task));
  }
  return AblationStore::create(workspace.state_dir, std::move(plan));
}

/// Runs before and after a change of any of these are no arms of one experiment.
Status still_the_same(const Workspace& workspace, const AblationPlan& plan) {
  KW_TRY(const AblationPlan here, plan_here(workspace));
  const auto changed = [&](const std::string& what, const std::string& then,
                           const std::string& now) {
    return fail(
        ErrorKind::refused,
        fmt::format("the ablation began with another {}: \"{}\", now \"{}\"", what, then, now),
        "begin a new ablation");
  };
  if (here.hardware != plan.hardware)
    return changed("machine", plan.hardware, here.hardware);
  if (here.compiler != plan.compiler)
    return changed("compiler", plan.compiler, here.compiler);
  if (here.flags != plan.flags)
    return changed("set of flags", plan.flags, here.flags);
  if (here.version != plan.version)
    return changed("version of Kernwright", plan.version, here.version);
  for (const AblationTask& task : plan.tasks) {
    KW_TRY(const Task found, find_task(workspace, task.asked));
    KW_TRY(const std::string sources, ablation_sources(found.definition));
    if (sources != task.sources)
      return fail(ErrorKind::refused,
                  fmt::format("`{}` has changed since the ablation began: its definition, its "
                              "templates or its baseline",
                              task.definition),
                  "begin a new ablation", found.definition.file);
  }
  return {};
}

/// Runs of one arm so far, by their ids.
Result<std::vector<std::string>> runs_in(const std::string& folder) {
  std::vector<std::string> out;
  if (!is_file(folder + "/archive.sqlite"))
    return out;
  KW_TRY(const std::unique_ptr<Archive> archive, open_sqlite_archive(folder));
  KW_TRY(const std::vector<Run> runs, archive->list_runs());
  for (const Run& run : runs)
    out.push_back(run.id);
  return out;
}

int evaluations_of(const AblationOptions& options, int session) {
  const int each = options.evaluations / options.sessions;
  return session + 1 < options.sessions ? each : options.evaluations - session * each;
}

struct Job {
  const Workspace& workspace;
  const AblationRequest& request;
  const AblationStore& store;
  [[nodiscard]] const AblationOptions& options() const { return store.plan().options; }
};

/// All sessions of one arm. Going through a finished one again takes its journal alone. nullopt:
/// interrupted.
Result<std::optional<ArmRun>> run_arm(const Job& job, const AblationStep& step) {
  const AblationTask& task = job.store.plan().tasks[step.task];
  KW_TRY(const AblationArm arm, ablation_arm(step.arm));
  const std::string folder = job.store.arm_folder(step);
  KW_CHECK(make_dirs(folder));
  KW_TRY(const std::vector<std::string> known, runs_in(folder));
  Workspace own = job.workspace;
  own.state_dir = folder;
  ArmRun out{.arm = arm.name, .workloads = {}, .hash = {}, .champion = {}};
  for (int session = 0; session < job.options().sessions; ++session) {
    OptimizeRequest one{.definition = task.asked,
                        .resume = {},
                        .recorded = {},
                        .again = true,
                        .options = {},
                        .judging = job.request.judging,
                        .hooks = {},
                        .origins = {}};
    if (static_cast<std::size_t>(session) < known.size())
      one.resume = known[static_cast<std::size_t>(session)], one.definition.clear();
    one.options.evaluations = evaluations_of(job.options(), session);
    one.options.seconds = most_seconds_per_evaluation * one.options.evaluations;
    one.options.gate_seconds = gate_seconds;
    // No two seeds of an arm share a stream of random numbers, nor do its sessions.
    one.options.seed =
        static_cast<std::uint64_t>(step.seed) + 1'000'000u * static_cast<std::uint64_t>(session);
    one.options.references = job.options().references;
    one.options.peers = false;
    one.options.judge_whole = false;
    one.options.parts = arm.parts;
    one.options.strategy = arm.strategy;
    one.options.race.least_window_ns =
        1e6 * (job.options().least_window_ms > 0 ? job.options().least_window_ms : gate_window_ms);
    one.judging.workloads.clear();
    for (const AblationWorkload& w : task.workloads)
      one.judging.workloads.push_back(w.uuid);
    one.hooks.stop = job.request.hooks.stop;
    one.hooks.note = job.request.hooks.note;
    one.hooks.probe = [&](const ProbeEvent& e) {
      job.request.hooks.progress(step, out.evaluations + e.index, job.options().evaluations);
    };
    const Result<OptimizeResult> result = run_optimize(own, one);
    if (!result && result.error().kind == ErrorKind::interrupted)
      return std::optional<ArmRun>{};
    if (!result)
      return fail(result.error());
    if (result->outcome.interrupted)
      return std::optional<ArmRun>{};
    out.workloads = result->workloads;
    out.evaluations += static_cast<int>(result->outcome.events.size());
    out.seconds += result->outcome.search_seconds;
    out.build_seconds += result->outcome.build_seconds;
    out.hash = result->winner_hash;
    out.champion = result->outcome.winner ? result->outcome.winner->name : "";
    if (result->outcome.winner)
      KW_CHECK(write_file_atomic(folder + "/solution.json",
                                 encode_solution(*result->outcome.winner) + "\n"));
  }
  return std::optional(std::move(out));
}

/// The distinct champions of a seed against each other; nullopt: interrupted, or the machine is too
/// busy, which is noted.
Result<std::optional<ChampionRace>> run_race(const Job& job, const AblationStep& step,
                                             const AblationSeed& seed) {
  const AblationTask& task = job.store.plan().tasks[step.task];
  const std::vector<std::string> hashes = champions_to_race(seed);
  if (hashes.size() < 2)
    return std::optional(ChampionRace{});
  std::vector<std::pair<std::string, Solution>> champions;
  for (const std::string& hash : hashes)
    for (const auto& [arm, run] : seed.runs)
      if (!hash.empty() && run.hash == hash) {
        const std::string path =
            job.store.arm_folder({.task = step.task, .seed = step.seed, .arm = arm}) +
            "/solution.json";
        KW_TRY(Solution solution, load_solution(path, "", ""));
        champions.emplace_back(hash, std::move(solution));
        break;
      }
  JudgingOptions judging = job.request.judging;
  judging.stop = job.request.hooks.stop;
  judging.note = job.request.hooks.note;
  judging.progress = [&](const std::string& stage, std::uint64_t done, std::uint64_t of) {
    if (stage == "race")
      job.request.hooks.progress(step, static_cast<int>(done), static_cast<int>(of));
  };
  Result<ChampionRace> race =
      race_champions(job.workspace, task, job.options(), champions, judging);
  if (race)
    return std::optional(std::move(*race));
  if (race.error().kind == ErrorKind::refused) {
    job.request.hooks.note(
        fmt::format("{} seed {}: no race: {}", task.definition, step.seed, race.error().message));
    return std::optional<ChampionRace>{};
  }
  return race.error().kind == ErrorKind::interrupted ? Result<std::optional<ChampionRace>>{}
                                                     : fail(race.error());
}

/// Expected seconds, corrected by how long steps of the same kind and definition took.
class Forecast {
 public:
  explicit Forecast(const AblationPlan& plan) : plan_(plan) {}

  void took(const AblationStep& step, double seconds) {
    Mean& mean = seen_[{step.task, step.is_race()}];
    mean.sum += seconds;
    ++mean.count;
  }
  [[nodiscard]] double of(const std::vector<AblationStep>& steps, std::size_t from) const {
    double sum = 0;
    for (std::size_t i = from; i < steps.size(); ++i) {
      const auto mean = seen_.find({steps[i].task, steps[i].is_race()});
      sum += mean == seen_.end() ? expected_seconds(plan_, steps[i])
                                 : mean->second.sum / mean->second.count;
    }
    return sum;
  }

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
  };
  const AblationPlan& plan_;
  std::map<std::pair<std::size_t, bool>, Mean> seen_;
};

std::string sentence(const ArmRun& run) {
  return fmt::format("{} evaluations in {:.1f} s, {:.1f} s of it builds; {}", run.evaluations,
                     run.seconds, run.build_seconds,
                     run.champion.empty() ? "the baseline stands" : run.champion);
}

std::string sentence(const ChampionRace& race, const AblationSeed& seed) {
  if (race.entrants.empty())
    return "one champion for all arms: no race needed";
  std::string out;
  for (const auto& [arm, run] : seed.runs)
    if (const std::optional<double> log = champion_ratio(race, run.hash, ""))
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", arm, ratio_text(std::exp(*log)));
  return fmt::format("{} of the baseline's speed; {} rounds", out, race.rounds.size());
}

/// One step. False: it was interrupted, or could not be decided.
Result<bool> carry_out(const Job& job, const AblationStep& step, AblationResults& results,
                       std::string& result) {
  AblationSeed& seed = results[{step.task, step.seed}];
  if (step.is_race()) {
    KW_TRY(std::optional<ChampionRace> race, run_race(job, step, seed));
    if (!race)
      return false;
    KW_CHECK(job.store.keep(step, *race));
    result = sentence(*race, seed);
    seed.race = std::move(race);
    return true;
  }
  KW_TRY(std::optional<ArmRun> run, run_arm(job, step));
  if (!run)
    return false;
  KW_CHECK(job.store.keep(step, *run));
  result = sentence(*run);
  seed.runs[step.arm] = std::move(*run);
  return true;
}

Status write_reports(const AblationResult& result) {
  const std::string& folder = result.folder;
  KW_CHECK(write_file_atomic(folder + "/report.html", ablation_html(result.report)));
  KW_CHECK(write_file_atomic(folder + "/report.json", ablation_json(result.report) + "\n"));
  return write_file_atomic(folder + "/cells.csv", ablation_csv(result.report));
}

bool is_done(const AblationResults& results, const AblationStep& step) {
  const auto seed = results.find({step.task, step.seed});
  return seed != results.end() &&
         (step.is_race() ? seed->second.race.has_value() : seed->second.runs.contains(step.arm));
}

} // namespace

Result<AblationResult> run_ablation(const Workspace& workspace, const AblationRequest& request) {
  const AblationHooks& hooks = request.hooks;
  KW_TRY(const AblationStore store, request.resume.empty()
                                        ? begin(workspace, request)
                                        : AblationStore::open(workspace.state_dir, request.resume));
  const AblationPlan& plan = store.plan();
  if (!request.resume.empty()) {
    KW_CHECK(check_ablation(plan.options));
    KW_CHECK(still_the_same(workspace, plan));
  }
  KW_TRY(AblationResults results, store.results());
  const std::vector<AblationStep> steps =
      steps_left(plan, [&](const AblationStep& step) { return is_done(results, step); });
  Forecast forecast(plan);
  hooks.planned(store.id(), plan, steps.size(), forecast.of(steps, 0));
  AblationResult out{.report = {}, .folder = store.folder()};
  const Job job{workspace, request, store};
  const auto report = [&] {
    out.report = summarise_ablation(plan, results);
    out.report.id = store.id();
    out.report.resume_command = "kernwright ablate --resume " + store.id();
    return write_reports(out);
  };
  for (std::size_t i = 0; i < steps.size() && !out.interrupted; ++i) {
    const auto began = std::chrono::steady_clock::now();
    std::string sentence;
    const Result<bool> done =
        hooks.stop() ? Result<bool>(false) : carry_out(job, steps[i], results, sentence);
    out.interrupted = hooks.stop();
    if (!done && !out.interrupted)
      return fail(done.error());
    if (!done || !*done)
      continue;
    forecast.took(steps[i], seconds_since(began));
    KW_CHECK(report()); // whoever looks at the page meanwhile sees what there is
    hooks.finished(plan, steps[i], sentence, forecast.of(steps, i + 1));
  }
  KW_CHECK(report());
  return out;
}

} // namespace kw
