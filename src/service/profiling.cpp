// SPDX-License-Identifier: Apache-2.0
#include "service/profiling.hpp"

#include "controller/bottleneck.hpp"
#include "controller/recorder.hpp"
#include "formats/profile_import.hpp"
#include "os/cpu.hpp"
#include "os/files.hpp"
#include "service/profile_sweeps.hpp"
#include "target/cpu/ceilings.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace kw {
namespace {

/// Time of a variant over the time as it is; wrong results do not matter here, so a variant that
/// fails its trials leaves no figure.
Status add_variant(Judge& judge, Target& target, const Solution& solution, Subject& as_is,
                   BuildVariant variant, const char* name, const ProfileOptions& options,
                   Profile& profile) {
  KW_TRY(TargetBuild build, target.build_variant(solution, judge.definition(), variant));
  // A variant that is the same code takes the same time, whatever a busy machine says.
  if (build.ok)
    if (const Result<std::string> other = read_file(build.object),
        own = read_file(as_is.build.object);
        other && own && *other == *own) {
      profile.figures.push_back({.name = name,
                                 .value = 1,
                                 .unit = "of the time",
                                 .source = "variant build, the same code",
                                 .confidence = 1});
      return {};
    }
  Verdict verdict;
  KW_TRY(Subject subject, judge.load(solution, std::move(build), verdict));
  ScreenReading reading;
  if (subject.loaded()) {
    KW_TRY(reading, judge.screen(as_is, subject, 0, options.rounds, verdict));
  }
  if (reading.rounds == 0) {
    profile.missing.push_back(
        fmt::format("the variant {}: {}", name,
                    !subject.loaded() ? "it does not build or load: " + verdict.build.summary
                    : verdict.finding != Finding::none ? "its results are wrong"
                                                       : "its calls are too short to compare"));
    return {};
  }
  profile.figures.push_back({.name = name,
                             .value = std::exp(-reading.ahead),
                             .unit = "of the time",
                             .source = "variant build",
                             .confidence = 0.8});
  return {};
}

void add_figure(Profile& profile, std::string name, double value, std::string unit,
                std::string source, double confidence) {
  profile.figures.push_back({.name = std::move(name),
                             .value = value,
                             .unit = std::move(unit),
                             .source = std::move(source),
                             .confidence = confidence});
}

/// The call over what this machine can do at most, and the level whose bandwidth that is.
void add_shares(const Ceilings& ceilings, const BoundWorkload& w, const Definition& definition,
                double ns, Profile& profile) {
  const int threads = definition.ext.threads;
  const bool cold = definition.ext.protocol == "cold";
  const double bytes = w.bytes_read + w.bytes_written;
  profile.threads = threads;
  if (bytes > 0) {
    profile.level = cold ? "DRAM" : ceilings.level_of(bytes, threads);
    add_figure(profile, "footprint", bytes, "bytes", "definition", 1);
  }
  add_figure(profile, "flop_share", ceilings.floor_ns(w.flops, 0, 0, threads) / ns, "",
             "judge, ceilings", 0.9);
  add_figure(profile, "bandwidth_share",
             (cold ? ceilings.cold_transfer_ns(w.bytes_read, w.bytes_written, threads)
                   : ceilings.transfer_ns(w.bytes_read, w.bytes_written, threads)) /
                 ns,
             "", "judge, ceilings", 0.9);
}

std::size_t sum(const std::vector<std::size_t>& counts, std::size_t from = 0) {
  return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(from), counts.end(),
                         std::size_t{0});
}

/// How evenly the threads' samples lie, and how many fell where tasks are handed out.
void add_thread_figures(const SampledAddresses& samples, Profile& profile) {
  constexpr std::size_t enough = 100; // samples: a share of 0.3 is then known to about 0.1
  if (profile.threads < 2 || samples.by_rank.size() < 2)
    return;
  const auto share = [&](const char* name, double value) {
    add_figure(profile, name, value, "", "samples of each thread", 0.8);
  };
  if (const std::size_t busiest = samples.by_rank.front(); busiest >= enough)
    share("thread_balance", static_cast<double>(sum(samples.by_rank)) /
                                static_cast<double>(busiest * samples.by_rank.size()));
  const auto [least, most] = std::ranges::minmax(samples.by_thread);
  if (most >= enough)
    share("least_thread", static_cast<double>(least) / static_cast<double>(most));
  // Helpers look for tasks for up to 0.1 ms after a call: little beside a call of a millisecond.
  constexpr double long_call_ns = 1e6;
  const ProfileFigure* call = profile.figure("call");
  const std::size_t helpers = samples.handing_out + sum(samples.by_thread, 1);
  if (helpers >= enough && call != nullptr && call->value >= long_call_ns)
    share("task_overhead", static_cast<double>(samples.handing_out) / static_cast<double>(helpers));
}

void add_counts(const SampledAddresses& samples, Profile& profile) {
  const HardwareCounts& c = samples.counts;
  if (!samples.no_counts.empty())
    profile.missing.push_back("hardware counters: " + samples.no_counts);
  if (!c.instructions || !c.cycles || *c.instructions <= 0 || *c.cycles <= 0)
    return;
  const double confidence = 0.9 * c.shared;
  const auto add = [&](const char* name, double value, const char* unit) {
    add_figure(profile, name, value, unit, "hardware counters", confidence);
  };
  add("ipc", *c.instructions / *c.cycles, "instructions a cycle");
  if (c.branch_misses)
    add("branch_misses", 1e3 * *c.branch_misses / *c.instructions, "per 1000 instructions");
  if (c.cache_misses)
    add("cache_misses", 1e3 * *c.cache_misses / *c.instructions, "per 1000 instructions");
}

/// Where the time goes: samples, the loops they fall into, and the compiler's reasons.
Status look_inside(Judge& judge, Target& target, Subject& subject, std::size_t workload,
                   double seconds, Profile& profile) {
  KW_TRY(const SampledAddresses samples, judge.sample(subject, workload, seconds));
  if (!samples.missing.empty())
    profile.missing.push_back("where the time goes: " + samples.missing);
  add_thread_figures(samples, profile);
  add_counts(samples, profile);
  KW_TRY(Inspection seen, target.inspect(subject.solution, judge.definition(), samples.addresses));
  profile.remarks = std::move(seen.remarks);
  profile.loops = std::move(seen.loops);
  profile.missing.insert(profile.missing.end(), seen.missing.begin(), seen.missing.end());
  return {};
}

/// Sizes and threads, each where it was asked for; one thread always, where there are several.
Status sweep(const Workspace& workspace, const Task& task, const Bench& bench,
             const Solution& solution, const Ceilings& ceilings, const ProfileOptions& options,
             Profile& profile) {
  Task one = task;
  one.workloads = {bench.judge->workloads().front().workload};
  SweepSetting setting{
      .workspace = workspace,
      .task = one,
      .solution = solution,
      .judging = options.judging,
      .builder = bench.builder,
      .until = std::chrono::steady_clock::now() +
               std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * options.sweep_seconds))};
  if (options.scaling || profile.threads > 1)
    KW_CHECK(
        scale_threads(setting, options.scaling ? cpu_info().online : profile.threads, profile));
  for (const ThreadPoint& point : profile.scaling)
    if (point.threads == profile.threads && point.threads > 1)
      add_figure(profile, "thread_efficiency", point.efficiency, "", point.source,
                 point.confidence);
  if (options.sweep_axis.empty())
    return {};
  KW_CHECK(sweep_sizes(setting, options.sweep_axis, ceilings, profile));
  for (ProfileFigure& cliff : cache_cliffs(profile.sweep))
    profile.figures.push_back(std::move(cliff));
  return {};
}

} // namespace

Result<Profiled> profile(const Workspace& workspace, const std::string& path,
                         const ProfileOptions& options) {
  KW_TRY(const Solution solution, load_solution(path, options.definition, options.entry));
  KW_TRY(const Task task, find_task(workspace, solution.definition));
  KW_TRY(const Bench bench, open_bench(workspace, task, options.judging));
  Judge& judge = *bench.judge;
  judge.begin(fresh_seed());
  Profiled out;
  Profile& p = out.profile;
  p.definition = judge.definition().name;
  p.solution = solution.name;
  p.axes = judge.workloads().front().axes_text;
  KW_TRY(Subject subject, judge.admit(solution, out.verdict));
  if (!subject.loaded()) {
    conclude(out.verdict, false);
    return out;
  }
  KW_TRY(const double ns, judge.call_ns(subject, 0, options.calls, out.verdict));
  if (!out.ok()) {
    conclude(out.verdict, false);
    return out;
  }
  p.figures.push_back(
      {.name = "call", .value = ns, .unit = "ns", .source = "judge", .confidence = 0.9});
  Result<Ceilings> ceilings = stored_ceilings(workspace.cache_dir);
  if (!ceilings) {
    options.judging.note("measuring what this machine can do at most (once per machine, 5 s)");
    ceilings = cached_ceilings(workspace.cache_dir, false);
  }
  if (!ceilings)
    return fail(ceilings.error());
  add_shares(*ceilings, judge.workloads().front(), judge.definition(), ns, p);
  for (const auto& [variant, name] : {std::pair{BuildVariant::no_vectorize, "no_vectorize"},
                                      std::pair{BuildVariant::fast_math, "fast_math"}})
    KW_CHECK(add_variant(judge, *bench.target, solution, subject, variant, name, options, p));
  KW_CHECK(look_inside(judge, *bench.target, subject, 0, options.sample_seconds, p));
  KW_CHECK(sweep(workspace, task, bench, solution, *ceilings, options, p));
  p.state = classify(p);
  return out;
}

Result<Profile> import_profile(const std::string& path) {
  KW_TRY(const std::string text, read_file(path));
  KW_TRY(Profile p, read_profile_export(text, path));
  p.state = classify_gpu(p);
  return p;
}

Profiler bottleneck_profiler(const Workspace& workspace, const Bench& bench) {
  constexpr int calls = 7;
  constexpr double sample_seconds = 0.3;
  const Result<Ceilings> ceilings = stored_ceilings(workspace.cache_dir);
  if (!ceilings)
    return {};
  return [ceilings = *ceilings, judge = bench.judge.get(), target = bench.target.get()](
             Subject& subject, std::size_t workload) -> Result<BottleneckState> {
    Profile profile;
    Verdict verdict;
    judge->begin(fresh_seed());
    KW_TRY(const double ns, judge->call_ns(subject, workload, calls, verdict));
    if (ns <= 0)
      return BottleneckState{};
    profile.figures.push_back(
        {.name = "call", .value = ns, .unit = "ns", .source = "judge", .confidence = 0.9});
    add_shares(ceilings, judge->workloads()[workload], judge->definition(), ns, profile);
    KW_CHECK(look_inside(*judge, *target, subject, workload, sample_seconds, profile));
    return classify(profile);
  };
}

} // namespace kw
