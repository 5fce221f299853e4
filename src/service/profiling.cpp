// SPDX-License-Identifier: Apache-2.0
#include "service/profiling.hpp"

#include "controller/bottleneck.hpp"
#include "controller/recorder.hpp"
#include "formats/profile_import.hpp"
#include "os/files.hpp"
#include "target/cpu/ceilings.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

/// Time of a variant over the time as it is; wrong results do not matter here, so a variant that
/// fails its trials leaves no figure.
Status add_variant(Judge& judge, Target& target, const Solution& solution, Subject& as_is,
                   BuildVariant variant, const char* name, const ProfileOptions& options,
                   Profile& profile) {
  KW_TRY(TargetBuild build, target.build_variant(solution, judge.definition(), variant));
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

void add_shares(const Ceilings& ceilings, const BoundWorkload& w, int threads, double ns,
                Profile& profile) {
  const double compute = ceilings.floor_ns(w.flops, 0, 0, threads);
  const double transfer = ceilings.transfer_ns(w.bytes_read, w.bytes_written, threads);
  for (const auto& [name, bound] :
       {std::pair{"flop_share", compute}, std::pair{"bandwidth_share", transfer}})
    profile.figures.push_back({.name = name,
                               .value = bound / ns,
                               .unit = "",
                               .source = "judge, ceilings",
                               .confidence = 0.9});
}

/// Where the time goes: samples, the loops they fall into, and the compiler's reasons.
Status look_inside(Judge& judge, Target& target, Subject& subject, std::size_t workload,
                   double seconds, Profile& profile) {
  KW_TRY(const SampledAddresses samples, judge.sample(subject, workload, seconds));
  if (!samples.missing.empty())
    profile.missing.push_back("where the time goes: " + samples.missing);
  KW_TRY(Inspection seen, target.inspect(subject.solution, judge.definition(), samples.addresses));
  profile.remarks = std::move(seen.remarks);
  profile.loops = std::move(seen.loops);
  profile.missing.insert(profile.missing.end(), seen.missing.begin(), seen.missing.end());
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
  add_shares(*ceilings, judge.workloads().front(), judge.definition().ext.threads, ns, p);
  for (const auto& [variant, name] : {std::pair{BuildVariant::no_vectorize, "no_vectorize"},
                                      std::pair{BuildVariant::fast_math, "fast_math"}})
    KW_CHECK(add_variant(judge, *bench.target, solution, subject, variant, name, options, p));
  KW_CHECK(look_inside(judge, *bench.target, subject, 0, options.sample_seconds, p));
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
    add_shares(ceilings, judge->workloads()[workload], judge->definition().ext.threads, ns,
               profile);
    KW_CHECK(look_inside(*judge, *target, subject, workload, sample_seconds, profile));
    return classify(profile);
  };
}

} // namespace kw
