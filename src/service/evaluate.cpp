// SPDX-License-Identifier: Apache-2.0
// Builds and correctness of many candidates overlap; timing takes a lease that is machine-wide, so
// that two judges never disturb each other's clock.
#include "service/evaluate.hpp"

#include "archive/sqlite_archive.hpp"
#include "controller/recorder.hpp"
#include "judge/sanitize.hpp"
#include "os/clock.hpp"
#include "os/file_lock.hpp"
#include "os/files.hpp"
#include "service/lease.hpp"
#include "target/cpu/cpu_target.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace kw {
namespace {

constexpr int infrastructure_attempts = 3;

Result<std::vector<std::string>> expand(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    if (!is_dir(path) || is_file(path + "/config.toml")) {
      out.push_back(path);
      continue;
    }
    KW_TRY(const std::vector<TreeEntry> entries, list_tree(path));
    std::vector<std::string> found;
    for (const TreeEntry& e : entries)
      if (e.path.ends_with(".json") && !e.path.ends_with(".definition.json") &&
          !e.path.ends_with(".space.json"))
        found.push_back(path + "/" + e.path);
    if (found.empty())
      return fail(
          ErrorKind::not_found,
          "no solution files (*.json, or config.toml with sources) below the folder",
          "pass a solution.json, a kernel source with --definition, or pack the folder first",
          path);
    std::sort(found.begin(), found.end());
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

/// One thread's judges, one per definition: a session is worth keeping between candidates.
class Worker {
 public:
  /// `timing`: held shared while judging, exclusively while timing.
  Worker(const Workspace& workspace, const EvaluateOptions& options, Archive* archive,
         std::shared_ptr<Builder> builder, std::shared_mutex& timing)
      : workspace_(workspace), options_(options), archive_(archive), builder_(std::move(builder)),
        timing_(timing) {}

  Evaluation run(const std::string& path);

 private:
  struct Open {
    Bench bench;
    std::unique_ptr<Recorder> recorder;
    std::unique_ptr<Subject> baseline;
  };
  Result<Probe> judge(const std::string& path);
  Result<Task*> task_for(const std::string& definition);
  Result<Open*> bench_for(Task& task, bool timed);
  Result<Subject> first_judgement(Open& open, const Solution& solution, const TargetBuild& build,
                                  const Seed& seed, Verdict& verdict);
  Status judge_timing(Open& open, Subject& subject, Verdict& verdict);
  [[nodiscard]] bool alone() const { return options_.jobs <= 1; }

  const Workspace& workspace_;
  const EvaluateOptions& options_;
  Archive* archive_;
  SystemClock clock_;
  std::shared_ptr<Builder> builder_;
  std::shared_mutex& timing_;
  std::map<std::string, std::unique_ptr<Task>> tasks_;
  std::map<std::string, std::unique_ptr<Open>>
      open_; ///< by definition; " timed" appended for the timing bench
};

Result<Task*> Worker::task_for(const std::string& definition) {
  if (const auto found = tasks_.find(definition); found != tasks_.end())
    return found->second.get();
  KW_TRY(Task task, find_task(workspace_, definition));
  auto kept = std::make_unique<Task>(std::move(task));
  return (tasks_[definition] = std::move(kept)).get();
}

/// Benches that share the machine sleep on their doorbells; timing needs one that owns it.
Result<Worker::Open*> Worker::bench_for(Task& task, bool timed) {
  const std::string key = task.definition.name + (timed && !alone() ? " timed" : "");
  if (const auto found = open_.find(key); found != open_.end())
    return found->second.get();
  auto open = std::make_unique<Open>();
  JudgingOptions judging = options_.judging;
  judging.shares_cpus = !timed && !alone();
  judging.fib_calls = true;
  KW_TRY(open->bench, open_bench(workspace_, task, judging, builder_));
  if (archive_ != nullptr)
    open->recorder = std::make_unique<Recorder>(*archive_, clock_, open->bench.environment,
                                                open->bench.judge->definition());
  return (open_[key] = std::move(open)).get();
}

Status Worker::judge_timing(Open& open, Subject& subject, Verdict& verdict) {
  Judge& judge = *open.bench.judge;
  if (!open.baseline) {
    Solution baseline;
    if (options_.baseline.empty()) {
      KW_TRY(baseline, baseline_solution(judge.definition()));
    } else {
      KW_TRY(baseline, load_solution(options_.baseline, judge.definition().name, {}));
    }
    Verdict own;
    KW_TRY(Subject loaded, judge.admit(baseline, own));
    if (!loaded.loaded())
      return fail(
          ErrorKind::invalid_input,
          fmt::format("the baseline is not usable: {} {}", own.build.summary, own.sandbox.summary),
          "run `kernwright check` on its folder");
    open.baseline = std::make_unique<Subject>(std::move(loaded));
  }
  KW_TRY(const FileLock lease, timing_lease("evaluate " + subject.solution.name,
                                            options_.judging.note, options_.judging.stop));
  RaceOptions race;
  race.warm = judge.definition().ext.protocol != "cold";
  race.seconds = options_.timing_seconds;
  race.objective = options_.objective;
  race.least_window_ns = options_.least_window_ms * 1e6;
  if (archive_ != nullptr) {
    KW_TRY(const std::uint64_t attempts, archive_->attempts(judge.definition().name));
    race.gate.alpha_accept = std::min(race.gate.alpha_accept, spent_alpha(attempts + 1));
  }
  KW_CHECK(judge.time(*open.baseline, subject, race, verdict));
  if (verdict.merit.outcome == Outcome::pass)
    KW_CHECK(judge.confirm(*open.baseline, subject,
                           options_.peers ? peers_of(judge.definition()) : std::vector<PeerSpec>{},
                           race, verdict));
  return {};
}

Result<Subject> Worker::first_judgement(Open& open, const Solution& solution,
                                        const TargetBuild& build, const Seed& seed,
                                        Verdict& verdict) {
  Judge& judge = *open.bench.judge;
  judge.begin(seed);
  KW_TRY(Subject subject, judge.load(solution, build, verdict));
  if (subject.loaded())
    KW_CHECK(judge.verify(subject, options_.gate, verdict));
  if (verdict.correctness.outcome == Outcome::pass)
    KW_CHECK(judge.sanitize(subject,
                            options_.sanitize.empty()
                                ? sanitizers_of_gate(options_.gate, judge.definition().ext.threads)
                                : options_.sanitize,
                            verdict));
  return subject;
}

Result<Probe> Worker::judge(const std::string& path) {
  KW_TRY(const Solution solution, load_solution(path, options_.definition, options_.entry));
  KW_TRY(Task * task, task_for(solution.definition));
  // The compiler works while oracle, session and sandbox are made ready.
  CpuTarget target(*builder_, workspace_.include_dir);
  std::future<Result<TargetBuild>> building =
      std::async(std::launch::async, [&] { return target.build(solution, task->definition); });
  std::shared_lock<std::shared_mutex> sharing(timing_);
  KW_TRY(Open * open, bench_for(*task, alone() && options_.timing));
  const Seed seed = fresh_seed();
  Probe probe;
  if (open->recorder)
    probe = open->recorder->open(solution, seed);
  else
    probe.solution = solution, probe.definition = solution.definition;
  probe.proposer = "human";
  const auto began = std::chrono::steady_clock::now();

  // A numerical failure ever seen of this very solution is sticky.
  if (archive_ != nullptr) {
    KW_TRY(const std::vector<ProbeRow> earlier,
           archive_->find_by_solution_hash(probe.definition_hash, probe.solution_hash));
    for (const ProbeRow& row : earlier)
      if (row.finding == name(Finding::wrong) || row.finding == name(Finding::nondeterminism)) {
        probe.verdict.build.outcome = Outcome::pass;
        probe.verdict.correctness.outcome = Outcome::fail;
        probe.verdict.correctness.summary = "this very solution failed before: " + row.reason;
        probe.verdict.correctness.details = {
            fmt::format("see: kernwright archive show {}", row.id.substr(0, 12))};
        probe.verdict.finding = Finding::wrong;
        open->bench.judge->note_sandbox(probe.verdict);
        conclude(probe.verdict, options_.timing);
        probe.reason = probe.verdict.correctness.summary;
        probe.decision = "reject";
        return probe;
      }
  }

  KW_TRY(const TargetBuild build, building.get());
  for (int attempt = 1;; ++attempt) {
    probe.verdict = {};
    Status judged;
    Open* last = open; ///< whose process the subject has
    Result<Subject> subject = first_judgement(*open, solution, build, seed, probe.verdict);
    if (!subject)
      judged = fail(subject.error());
    if (judged && options_.timing && probe.verdict.correctness.outcome == Outcome::pass) {
      sharing.unlock();
      const std::unique_lock<std::shared_mutex> exclusive(timing_);
      KW_TRY(Open * timed, bench_for(*task, true));
      if (timed != open) {
        Verdict again;
        timed->bench.judge->begin(seed);
        KW_TRY(*subject, timed->bench.judge->load(solution, build, again));
      }
      last = timed;
      judged = judge_timing(*timed, *subject, probe.verdict);
    }
    if (judged)
      judged = last->bench.judge->examine(*subject, probe.verdict);
    if (judged)
      break;
    if (judged.error().kind != ErrorKind::infrastructure || attempt == infrastructure_attempts)
      return fail(judged.error());
    // Only infrastructure is retried, on a fresh session.
    open_.clear();
    if (!sharing.owns_lock())
      sharing.lock();
    KW_TRY(open, bench_for(*task, alone() && options_.timing));
  }
  for (const auto& [purpose, ms] : open->bench.judge->costs())
    probe.verdict.cost_ms[purpose] = ms;
  probe.wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  probe.verdict.cost_ms["total"] = probe.wall_ms;
  conclude(probe.verdict, options_.timing);
  probe.decision = probe.verdict.accepted ? "archive" : "reject";
  const Verdict& v = probe.verdict;
  probe.reason =
      v.finding == Finding::none && options_.timing ? v.merit.summary : failed_axis(v).summary;
  if (open->recorder)
    KW_CHECK(open->recorder->store(probe, build, seed));
  return probe;
}

Evaluation Worker::run(const std::string& path) {
  Evaluation out{.path = path, .probe = {}, .error = {}, .error_remedy = {}};
  Result<Probe> probe = judge(path);
  if (probe) {
    out.probe = std::move(*probe);
    return out;
  }
  const std::string& where = probe.error().where;
  out.error = (where.empty() || where == path ? "" : where + ": ") + probe.error().message;
  out.error_remedy = probe.error().remedy;
  if (probe.error().kind == ErrorKind::infrastructure) {
    out.probe.verdict.infrastructure_error = out.error;
    conclude(out.probe.verdict, false);
  }
  return out;
}

} // namespace

Result<std::vector<Evaluation>> evaluate(const Workspace& workspace,
                                         const std::vector<std::string>& paths,
                                         const EvaluateOptions& options) {
  KW_TRY(const std::vector<std::string> files, expand(paths));
  KW_TRY(const std::vector<std::string> builds, sanitizer_builds(options.sanitize));
  (void)builds; // only that the words are known
  std::unique_ptr<Archive> archive;
  if (options.archive) {
    KW_TRY(archive, open_sqlite_archive(workspace.state_dir));
  }
  std::vector<Evaluation> out(files.size());
  std::atomic<std::size_t> next{0};
  std::mutex report;
  std::shared_mutex timing;
  KW_TRY(const std::shared_ptr<Builder> builder, open_builder(workspace));
  const auto work = [&] {
    Worker worker(workspace, options, archive.get(), builder, timing);
    for (std::size_t i = next++; i < files.size(); i = next++) {
      if (options.judging.stop()) {
        out[i] = {.path = files[i],
                  .probe = {},
                  .error = "interrupted",
                  .error_remedy = "run the command again; finished probes are archived"};
        continue;
      }
      out[i] = worker.run(files[i]);
      const std::lock_guard<std::mutex> lock(report);
      if (out[i].error.empty())
        options.finished(out[i].probe);
    }
  };
  const auto jobs = static_cast<std::size_t>(std::max(1, options.jobs));
  std::vector<std::jthread> threads;
  for (std::size_t j = 1; j < std::min(jobs, files.size()); ++j)
    threads.emplace_back(work);
  work();
  threads.clear();
  return out;
}

} // namespace kw
