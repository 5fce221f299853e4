// SPDX-License-Identifier: Apache-2.0
// Every baseline and the first seed of every template, built with sanitizers and called.
#include "judge/sanitize.hpp"
#include "os/cpu.hpp"
#include "os/files.hpp"
#include "os/temp_dir.hpp"
#include "search/instantiate.hpp"
#include "service/judging.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace kw {
namespace {

const std::string operators = std::string(KW_SOURCE_DIR) + "/operators";

struct Shipped {
  Solution solution;
  std::string what; ///< "softmax_rows.space.json"
};

/// What the definition ships, without sources that another definition brought already.
std::vector<Shipped> shipped(const Definition& definition, std::set<std::string>& seen) {
  std::vector<Shipped> out;
  if (definition.ext.baseline && seen.insert(definition.ext.baseline->source_text).second) {
    Result<Solution> baseline = baseline_solution(definition);
    EXPECT_TRUE(baseline) << definition.name;
    if (baseline)
      out.push_back({*baseline, "baseline"});
  }
  for (const std::string& relative : definition.ext.templates) {
    const std::string path = join_path(definition.folder, relative);
    if (!seen.insert(path).second)
      continue;
    const Result<Space> space = parse_space(read_file(path).value(), path);
    EXPECT_TRUE(space) << path;
    if (!space || space->seeds.empty())
      continue;
    const std::string text = read_file(join_path(parent_path(path), space->template_file)).value();
    Result<Solution> solution = instantiate(
        definition, {.space = &*space, .choice = space->seeds.front(), .template_text = text});
    EXPECT_TRUE(solution) << path;
    if (solution)
      out.push_back({*solution, base_name(path)});
  }
  return out;
}

/// Of several definitions with one source the smallest has it.
double constant_size(const Definition& definition) {
  double size = 1;
  for (const Axis& axis : definition.axes)
    if (!axis.is_variable())
      size *= static_cast<double>(*axis.value);
  return size;
}

/// Megabytes of one call's inputs on the cheapest workload: ThreadSanitizer keeps several times as
/// much, and its side run has 4 GiB (docs/sanitizers.md).
double smallest_call_mb(const Judge& judge) {
  double least = std::numeric_limits<double>::infinity();
  for (const BoundWorkload& w : judge.workloads()) {
    double bytes = 0;
    for (const BoundInput& input : w.inputs)
      bytes += static_cast<double>(input.bytes);
    least = std::min(least, bytes / 1e6);
  }
  return least;
}

TEST(Sanitize, NothingShippedGivesAnAlarm) {
  constexpr double most_mb = 64; // beyond it the addresses alone are looked at
  const TempDir cache = TempDir::create("kernwright-e2e").value();
  Workspace workspace;
  workspace.operators = operators;
  workspace.state_dir = workspace.cache_dir = cache.path();
  workspace.include_dir = operators + "/include";
  workspace.runner = KW_RUNNER;
  const Result<TraceSet> set = load_operators(workspace);
  ASSERT_TRUE(set) << set.error().text();
  const auto builder = open_builder(workspace);
  ASSERT_TRUE(builder) << builder.error().text();
  JudgingOptions judging;
  judging.threads = std::min(2, cpu_info().online);
  std::set<std::string> seen;
  std::vector<Definition> definitions = set->definitions;
  std::ranges::stable_sort(definitions, {}, constant_size);
  for (const Definition& definition : definitions) {
    const std::vector<Shipped> kernels = shipped(definition, seen);
    if (kernels.empty())
      continue;
    const Task task = find_task(workspace, definition.name).value();
    const Result<Bench> bench = open_bench(workspace, task, judging, *builder);
    ASSERT_TRUE(bench) << definition.name << ": " << bench.error().text();
    for (const Shipped& kernel : kernels) {
      Verdict verdict;
      bench->judge->begin(Seed{1});
      const Result<Subject> subject = bench->judge->admit(kernel.solution, verdict);
      ASSERT_TRUE(subject) << subject.error().text();
      ASSERT_TRUE(subject->loaded()) << kernel.what << ": " << verdict.build.summary;
      const double mb = smallest_call_mb(*bench->judge);
      if (mb > most_mb)
        std::printf("%-30s %-28s thread: LEFT OUT, a call has %.0f MB of inputs\n",
                    definition.name.c_str(), kernel.what.c_str(), mb);
      const Status status = bench->judge->sanitize(
          *subject, mb > most_mb ? "address,undefined" : "address,undefined,thread", verdict);
      ASSERT_TRUE(status) << kernel.what << ": " << status.error().text();
      for (const SanitizedRun& run : verdict.sanitized) {
        const bool alone = run.sanitizers == "thread" && judging.threads == 1;
        EXPECT_EQ(run.outcome, alone ? Outcome::unknown : Outcome::pass)
            << definition.name << ", " << kernel.what << ": " << run.summary;
        std::printf("%-30s %-28s %-18s %2d calls, build %5.0f ms, run %5.0f ms\n",
                    definition.name.c_str(), kernel.what.c_str(), run.sanitizers.c_str(),
                    static_cast<int>(run.calls), run.build_ms, run.run_ms);
      }
    }
  }
}

} // namespace
} // namespace kw
