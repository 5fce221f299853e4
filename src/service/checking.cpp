// SPDX-License-Identifier: Apache-2.0
#include "service/checking.hpp"

#include "formats/trace_set.hpp"
#include "service/judging.hpp"
#include "service/spaces.hpp"

#include <fmt/format.h>

namespace kw {
namespace {

/// Oracle, baseline, workloads and templates of one definition, for real.
Status run_definition(const Workspace& workspace, const TraceSet& set, const Definition& definition,
                      CheckReport& report) {
  Task task{.definition = definition, .workloads = {}, .root = set.root};
  if (const auto found = set.workloads.find(definition.name); found != set.workloads.end())
    task.workloads = found->second;
  KW_TRY(const Bench bench, open_bench(workspace, task, {}));
  if (!definition.ext.baseline)
    return {};
  KW_TRY(const Solution baseline, baseline_solution(definition));
  Verdict verdict;
  bench.judge->begin(Seed{});
  KW_TRY(Subject subject, bench.judge->admit(baseline, verdict));
  if (!subject.loaded())
    return fail(ErrorKind::invalid_input,
                "the baseline is not usable: " + (verdict.build.outcome == Outcome::fail
                                                      ? verdict.build.summary
                                                      : verdict.sandbox.summary),
                "correct it; `kernwright evaluate` on the source shows the details");
  KW_CHECK(bench.judge->verify(subject, "smoke", verdict));
  if (verdict.correctness.outcome == Outcome::fail)
    return fail(ErrorKind::invalid_input,
                "baseline and oracle disagree: " + verdict.correctness.summary,
                "one of them is wrong, or the tolerance is tighter than honest rounding");
  ++report.baselines;
  KW_TRY(const std::vector<LoadedSpace> spaces, load_spaces(definition));
  KW_TRY(const std::size_t right, run_seeds(*bench.judge, spaces));
  report.templates += right;
  return {};
}

} // namespace

Result<CheckReport> check(const Workspace& workspace, const std::string& path, bool run) {
  KW_TRY(Loaded loaded, load_any(path));
  CheckReport report;
  for (const Definition& d : loaded.set.definitions)
    report.definitions.push_back(d.name);
  for (const auto& [name, workloads] : loaded.set.workloads)
    report.workloads += workloads.size();
  report.solutions = loaded.set.solutions.size();
  report.traces = loaded.set.traces.size();
  report.issues = std::move(loaded.issues);
  for (Issue& issue : check_set(loaded.set))
    report.issues.push_back(std::move(issue));
  if (!run || has_errors(report.issues))
    return report;
  for (const Definition& d : loaded.set.definitions)
    if (Status ran = run_definition(workspace, loaded.set, d, report); !ran) {
      Error error = ran.error();
      error.where = d.file + (error.where.empty() ? "" : " (" + error.where + ")");
      report.issues.push_back({.severity = Severity::error, .error = std::move(error)});
    }
  return report;
}

} // namespace kw
