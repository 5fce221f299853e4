// SPDX-License-Identifier: Apache-2.0
#include "formats/export.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace kw {
namespace {

double median(std::vector<double> v) {
  if (v.empty())
    return 0;
  std::ranges::sort(v);
  const std::size_t n = v.size();
  return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/// The words their enumeration offers for a candidate that failed.
std::string failed_status(const Verdict& v) {
  switch (v.finding) {
  case Finding::build:
  case Finding::admission:
    return "COMPILE_ERROR";
  case Finding::wrong:
  case Finding::nondeterminism:
    return "INCORRECT_NUMERICAL";
  case Finding::resource: {
    for (const std::string& line : v.correctness.details)
      if (line.find("memory") != std::string::npos)
        return "RUNTIME_ERROR";
    return v.correctness.summary.find("memory") != std::string::npos ? "RUNTIME_ERROR" : "TIMEOUT";
  }
  default:
    return "RUNTIME_ERROR";
  }
}

std::string log_of(const Verdict& v) {
  if (v.finding == Finding::none)
    return fmt::format("kernwright {}: {}", v.word, v.correctness.summary);
  const AxisVerdict& axis = failed_axis(v);
  std::string log = fmt::format("kernwright {}: {}", name(v.finding), axis.summary);
  for (const std::string& line : axis.details)
    log += "\n" + line;
  for (const Diagnostic& d : v.diagnostics)
    log += fmt::format("\n{}:{}:{}: {}: {}", d.file, d.line, d.column, d.severity, d.message);
  return log;
}

/// Their time stamps carry no zone; ours are UTC.
std::string timestamp_of(const Probe& p) {
  std::string t = p.started_at;
  if (t.ends_with('Z'))
    t.pop_back();
  return t.empty() ? "1970-01-01T00:00:00" : t;
}

const PairedTiming* timing_of(const Verdict& v, const std::string& uuid) {
  if (!v.times)
    return nullptr;
  for (const auto* part : {&v.times->confirmation, &v.times->gate}) // reported figures first
    for (const PairedTiming& t : *part)
      if ((t.uuid == uuid || std::ranges::find(t.twins, uuid) != t.twins.end()) &&
          !t.candidate_ns.empty())
        return &t;
  return nullptr;
}

TraceCorrectness correctness_of(const Verdict& v, const Workload& w) {
  TraceCorrectness c;
  Json extra = Json::object();
  extra["gate"] = v.gate;
  extra["trials"] = v.trials;
  extra["failure_rate_bound_95"] = number_to_json(v.failure_rate_bound);
  for (const WorkloadTrials& t : v.workloads)
    if (t.uuid == w.uuid) {
      c.max_absolute_error = std::fabs(t.max_abs_error);
      c.max_relative_error = std::fabs(t.max_rel_error);
      extra["workload_trials"] = t.trials;
      extra["workload_failures"] = t.failures;
      extra["max_eta"] = number_to_json(t.max_eta);
    }
  if (v.mismatch && v.mismatch->workload == w.uuid) {
    const double error =
        std::fabs(v.mismatch->got - v.mismatch->want); // NaN and infinity are legal here
    if (!(error <= c.max_absolute_error))
      c.max_absolute_error = error;
    extra["bad_elements"] = v.mismatch->bad_elements;
    extra["elements"] = v.mismatch->elements;
    extra["output"] = v.mismatch->output;
  }
  c.extra = dump_json(extra);
  return c;
}

} // namespace

Result<Trace> to_trace(const Probe& probe, const Definition& definition, const Workload& workload) {
  const Verdict& v = probe.verdict;
  if (!v.infrastructure_error.empty() || v.word == "INFRASTRUCTURE")
    return fail(ErrorKind::refused, "an infrastructure failure says nothing about the candidate",
                "judge it again, then export");
  Trace t;
  t.definition = definition.name;
  t.workload = workload;
  t.solution = probe.solution.name;
  TraceEvaluation e;
  e.hardware = probe.environment.hardware.empty() ? "unknown" : probe.environment.hardware;
  e.timestamp = timestamp_of(probe);
  const auto lib = [&e](const char* key, const std::string& value) {
    if (!value.empty())
      e.libs.emplace_back(key, value);
  };
  lib("kernwright", probe.environment.version);
  lib("compiler", probe.environment.compiler);
  lib("flags", probe.environment.flags);
  lib("linux", probe.environment.kernel);
  for (const auto& [key, value] : probe.environment.more)
    lib(key.c_str(), value);
  e.log = log_of(v);
  const PairedTiming* timing = timing_of(v, workload.uuid);
  if (v.finding != Finding::none && v.finding != Finding::timing) {
    e.status = failed_status(v);
    // Their evaluation is per workload. A numerical failure elsewhere is still a failure of the
    // solution, and sticky: the trace of this workload says so instead of hiding it.
    if (e.status == "INCORRECT_NUMERICAL")
      e.correctness = correctness_of(v, workload);
  } else if (v.finding == Finding::timing) {
    e.status = "RUNTIME_ERROR"; // correct results at an impossible speed: no legal word fits better
  } else if (v.correctness.outcome == Outcome::pass && timing != nullptr) {
    e.status = "PASSED";
    e.correctness = correctness_of(v, workload);
    TracePerformance p;
    p.latency_ms = median(timing->candidate_ns) / 1e6;
    p.reference_latency_ms = median(timing->baseline_ns) / 1e6;
    p.speedup_factor = timing->speedup > 0 ? timing->speedup
                       : p.latency_ms > 0  ? p.reference_latency_ms / p.latency_ms
                                           : 0;
    Json unknown = {{"x_kernwright",
                     {{"baseline", timing->baseline},
                      {"low", number_to_json(timing->low)},
                      {"high", number_to_json(timing->high)},
                      {"protocol", v.times->protocol},
                      {"decision", timing->decision}}}};
    p.unknown = dump_json(unknown);
    e.performance = std::move(p);
    lib("timing", v.times->clock + ", " + v.times->protocol);
  } else if (v.correctness.outcome == Outcome::pass) {
    return fail(ErrorKind::refused,
                fmt::format("the candidate was not timed on workload `{}`, and the format has no "
                            "word for correct but untimed",
                            workload.uuid),
                "evaluate with timing, or keep the verdict in the side-car only");
  } else {
    return fail(ErrorKind::refused, "the verdict is open: neither passed nor failed",
                "evaluate again");
  }
  t.evaluation = std::move(e);
  return t;
}

} // namespace kw
