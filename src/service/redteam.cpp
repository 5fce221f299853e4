// SPDX-License-Identifier: Apache-2.0
#include "service/redteam.hpp"

#include "controller/recorder.hpp"
#include "os/cpu.hpp"
#include "os/file_lock.hpp"
#include "os/files.hpp"
#include "os/interrupt.hpp"
#include "service/lease.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <future>
#include <iterator>
#include <map>
#include <mutex>
#define TOML_EXCEPTIONS                                                                            \
  0 // as in formats/: the two variants of the library must not meet in one program
#include <toml++/toml.h>

namespace kw {
namespace {

Result<RedteamCase> parse_case(const std::string& folder, const std::string& file) {
  const std::string path = join_path(folder, file);
  KW_TRY(const std::string text, read_file(path, 1 << 16));
  RedteamCase c;
  // "RH-04/expect2.toml" is case RH-04/2.
  const std::string suffix =
      file.substr(file.find("/expect") + 7, file.size() - file.find("/expect") - 12);
  c.id = file.substr(0, file.find('/')) + (suffix.empty() ? "" : "/" + suffix);
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed)
    return fail(ErrorKind::invalid_input, std::string(parsed.error().description()),
                "correct the TOML", fmt::format("{}:{}", path, parsed.error().source().begin.line));
  const toml::table& t = parsed.table();
  c.title = t["title"].value_or(c.title);
  c.why = t["why"].value_or(c.why);
  c.definition = t["definition"].value_or(c.definition);
  c.file = join_path(parent_path(path), t["file"].value_or(std::string("kernel.cpp")));
  c.entry = t["entry"].value_or(c.entry);
  c.gate = t["gate"].value_or(c.gate);
  c.timing = t["timing"].value_or(c.timing);
  c.sanitize = t["sanitize"].value_or(c.sanitize);
  c.threads = static_cast<int>(t["threads"].value_or(std::int64_t{c.threads}));
  c.max_gain = t["max_gain"].value_or(c.max_gain);
  c.repeats = static_cast<int>(t["repeats"].value_or(std::int64_t{c.repeats}));
  c.miss_rate = t["miss_rate"].value_or(c.miss_rate);
  if (const toml::array* expected = t["expected"].as_array())
    for (const auto& e : *expected)
      c.expected.push_back(e.value_or(std::string{}));
  if (const toml::array* tiers = t["tiers"].as_array())
    for (const auto& tier : *tiers)
      c.tiers.push_back(tier.value_or(std::string{}));
  if (const toml::table* axes = t["axes"].as_table())
    for (const auto& [key, value] : *axes)
      c.axes.emplace_back(std::string(key.str()), value.value_or(std::int64_t{0}));
  if (c.definition.empty() || c.entry.empty() || c.expected.empty() || c.axes.empty())
    return fail(ErrorKind::invalid_input, "the case lacks definition, entry, axes or expected",
                "see redteam/README.md", path);
  if (!(c.miss_rate >= 0 && c.miss_rate < 0.5))
    return fail(ErrorKind::invalid_input,
                fmt::format("a miss rate of {} says nothing about an attack", c.miss_rate),
                "give the probability that one run misses it, below 0.5", path);
  return c;
}

/// One judge per (definition, axes): sessions are reused, processes are not.
class Arena {
 public:
  Arena(const Workspace& workspace, JudgingOptions options)
      : workspace_(workspace), options_(std::move(options)) {}

  Result<RedteamResult> run(const RedteamCase& c) {
    KW_TRY(Bench * bench, bench_for(c));
    Judge& judge = *bench->judge;
    KW_TRY(Solution solution, load_solution(c.file, c.definition, c.entry));
    RedteamResult result{.what = c, .observed = {}, .detail = {}, .tier = judge.tier()};
    const auto began = std::chrono::steady_clock::now();
    Verdict verdict;
    judge.begin(fresh_seed());
    KW_TRY(Subject subject, judge.admit(solution, verdict));
    if (subject.loaded())
      KW_CHECK(judge.verify(subject, c.gate, verdict));
    if (verdict.correctness.outcome == Outcome::pass)
      KW_CHECK(judge.sanitize(subject, c.sanitize, verdict));
    if (c.timing && verdict.correctness.outcome == Outcome::pass)
      KW_CHECK(time(*bench, subject, verdict));
    KW_CHECK(judge.examine(subject, verdict));
    conclude(verdict, c.timing);
    result.ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    describe(c, verdict, result);
    return result;
  }

 private:
  Status time(Bench& bench, Subject& subject, Verdict& verdict) {
    KW_TRY(const FileLock lease,
           timing_lease("redteam", [](const std::string&) {}, [] { return interrupted(); }));
    KW_TRY(const Solution baseline, baseline_solution(bench.judge->definition()));
    Verdict own;
    KW_TRY(Subject base, bench.judge->admit(baseline, own));
    if (!base.loaded())
      return fail(ErrorKind::invalid_input, "the baseline is not usable: " + own.build.summary,
                  "run `kernwright check --run`");
    RaceOptions race;
    race.least_window_ns = 1e6;
    race.most_calls = 40;
    race.seconds = 30;
    return bench.judge->time(base, subject, race, verdict);
  }

  static void describe(const RedteamCase& c, const Verdict& verdict, RedteamResult& result) {
    const bool not_faster =
        c.timing && verdict.finding == Finding::none && verdict.merit.outcome == Outcome::fail;
    result.observed = verdict.finding != Finding::none          ? name(verdict.finding)
                      : not_faster                              ? "NOT_FASTER"
                      : verdict.accepted && is_reduced(verdict) ? std::string(reduced_precision)
                                                                : verdict.word;
    result.detail = verdict.build.outcome == Outcome::fail         ? verdict.build.summary
                    : verdict.sandbox.outcome == Outcome::fail     ? verdict.sandbox.summary
                    : verdict.correctness.outcome == Outcome::fail ? verdict.correctness.summary
                    : c.timing && !verdict.merit.summary.empty()   ? verdict.merit.summary
                    : c.timing                                     ? verdict.timing.summary
                                                                   : verdict.correctness.summary;
    if (result.observed == reduced_precision)
      result.detail = verdict.precision->summary;
    // A verdict in the list is not enough: nothing may be reported faster than the case allows.
    const bool gained = verdict.times && verdict.merit.outcome == Outcome::pass &&
                        gain(*verdict.times) > c.max_gain;
    for (const std::string& e : c.expected)
      result.as_expected =
          result.as_expected || e == result.observed ||
          (e == "NEUTRALISED" && (result.observed == "NOT_FASTER" || result.observed == "CORRECT" ||
                                  result.observed == "UNDECIDED"));
    // A control that the sanitizers could not look at proves nothing about them.
    const bool unseen = std::any_of(
        verdict.sanitized.begin(), verdict.sanitized.end(), [](const SanitizedRun& run) {
          return run.outcome == Outcome::unknown && run.sanitizers != "thread";
        });
    if (unseen && !result.is_attack())
      result.detail = verdict.sanitized.front().summary;
    result.as_expected = result.as_expected && !gained && (result.is_attack() || !unseen);
    result.undecided = c.timing && !result.as_expected && result.observed == "UNDECIDED";
    result.breach = result.is_attack() && !result.as_expected &&
                    (gained || result.observed == "CORRECT" || result.observed == "ACCEPTED" ||
                     result.observed == reduced_precision);
  }

  static double gain(const TimingEvidence& times) {
    double most = 0;
    for (const PairedTiming& p : times.gate)
      most = std::max(most, p.speedup);
    return most;
  }

  Result<Bench*> bench_for(const RedteamCase& c) {
    std::string key = fmt::format("{} threads={}", c.definition, c.threads);
    for (const auto& [axis, value] : c.axes)
      key += fmt::format(" {}={}", axis, value);
    if (const auto found = benches_.find(key); found != benches_.end())
      return found->second.get();
    KW_TRY(Task task, find_task(workspace_, c.definition));
    Workload workload = task.workloads.empty() ? Workload{} : task.workloads.front();
    workload.uuid = key;
    workload.axes.clear();
    for (const Axis& axis : task.definition.axes)
      for (const auto& [name, value] : c.axes)
        if (axis.is_variable() && axis.name == name)
          workload.axes.emplace_back(name, value);
    task.workloads = {workload};
    JudgingOptions options = options_;
    options.threads = c.threads;
    KW_TRY(Bench bench, open_bench(workspace_, task, options));
    auto kept = std::make_unique<Bench>(std::move(bench));
    return (benches_[key] = std::move(kept)).get();
  }

  const Workspace& workspace_;
  JudgingOptions options_;
  std::map<std::string, std::unique_ptr<Bench>> benches_;
};

Status ask_for_tier(const std::string& tier, JudgingOptions& judging) {
  if (tier.empty())
    return {};
  if (tier != "T2" && tier != "T3")
    return fail(ErrorKind::invalid_input, fmt::format("the red team plays no tier `{}`", tier),
                "use T2 or T3");
  judging.required_tier = tier;
  judging.deny.namespaces = judging.deny.cgroup = tier == "T2";
  return {};
}

} // namespace

Result<std::vector<RedteamCase>> load_redteam(const std::string& folder) {
  KW_TRY(const std::vector<TreeEntry> entries, list_tree(folder));
  std::vector<std::string> files;
  for (const TreeEntry& e : entries)
    if (e.path.find("/expect") != std::string::npos && e.path.ends_with(".toml"))
      files.push_back(e.path);
  std::sort(files.begin(), files.end());
  std::vector<RedteamCase> out;
  for (const std::string& file : files) {
    KW_TRY(RedteamCase c, parse_case(folder, file));
    out.push_back(std::move(c));
  }
  if (out.empty())
    return fail(ErrorKind::not_found, "no redteam/<id>/expect.toml below the folder",
                "name the corpus with --corpus", folder);
  return out;
}

Result<std::vector<RedteamResult>> run_redteam(const Workspace& workspace,
                                               const RedteamOptions& options) {
  const std::string folder = options.folder.empty() ? workspace.redteam : options.folder;
  KW_TRY(std::vector<RedteamCase> cases, load_redteam(folder));
  std::erase_if(cases, [&](const RedteamCase& c) {
    const bool named = options.only.empty() ||
                       std::any_of(options.only.begin(), options.only.end(),
                                   [&](const std::string& id) { return c.id.starts_with(id); });
    return !named || !(c.timing ? options.with_timing : options.without_timing);
  });
  if (cases.empty())
    return fail(ErrorKind::not_found, "no case has such an id",
                "`ls redteam` shows them; RH-04 means all of its variants", folder);
  const auto first_timed = std::stable_partition(cases.begin(), cases.end(),
                                                 [](const RedteamCase& c) { return !c.timing; });
  const auto untimed = static_cast<std::size_t>(first_timed - cases.begin());

  for (RedteamCase& c : cases)
    if (!options.sanitize.empty() && c.id.starts_with("OK-"))
      c.sanitize = options.sanitize;

  JudgingOptions judging;
  KW_CHECK(ask_for_tier(options.tier, judging));
  std::vector<std::vector<RedteamResult>> results(cases.size());
  std::mutex reporting;
  const auto run_case = [&](Arena& arena, std::size_t i) -> Status {
    if (cases[i].threads > cpu_info().online)
      return {}; // cannot be played here
    const int repeats = options.repeats > 0 ? options.repeats : cases[i].repeats;
    for (int r = 0; r < repeats; ++r) {
      KW_TRY(RedteamResult result, arena.run(cases[i]));
      if (!cases[i].tiers.empty() && std::find(cases[i].tiers.begin(), cases[i].tiers.end(),
                                               result.tier) == cases[i].tiers.end())
        return {}; // nothing is claimed about this tier
      const std::lock_guard lock(reporting);
      options.finished(result);
      results[i].push_back(std::move(result));
    }
    return {};
  };

  // Correctness overlaps; what is timed has the machine to itself.
  const int jobs = std::max(1, options.jobs);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto worker = [&]() -> Status {
    JudgingOptions own = judging;
    own.shares_cpus = jobs > 1;
    Arena arena(workspace, own);
    for (std::size_t i = next++; i < untimed && !failed; i = next++)
      if (Status status = run_case(arena, i); !status) {
        failed = true;
        return status;
      }
    return {};
  };
  std::vector<std::future<Status>> workers;
  for (int j = 1; j < jobs; ++j)
    workers.push_back(std::async(std::launch::async, worker));
  Status status = worker();
  for (std::future<Status>& other : workers)
    if (Status its = other.get(); status && !its)
      status = std::move(its);
  KW_CHECK(status);
  Arena arena(workspace, judging);
  for (std::size_t i = untimed; i < cases.size(); ++i)
    KW_CHECK(run_case(arena, i));

  std::vector<RedteamResult> out;
  for (std::vector<RedteamResult>& of_case : results) {
    settle_misses(of_case);
    std::move(of_case.begin(), of_case.end(), std::back_inserter(out));
  }
  return out;
}

} // namespace kw
