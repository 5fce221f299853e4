// SPDX-License-Identifier: Apache-2.0
#include "formats/trace_json.hpp"

#include "base/strings.hpp"
#include "formats/decoding.hpp"
#include "formats/workload_codec.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

const std::vector<std::string> trace_keys{"definition", "workload", "solution", "evaluation"};
const std::vector<std::string> evaluation_keys{"status", "environment", "timestamp",
                                               "log",    "correctness", "performance"};
const std::vector<std::string> environment_keys{"hardware", "libs"};
const std::vector<std::string> correctness_keys{"max_relative_error", "max_absolute_error",
                                                "extra"};
const std::vector<std::string> performance_keys{"latency_ms", "reference_latency_ms",
                                                "speedup_factor"};
const std::vector<std::string> statuses{"PASSED",          "INCORRECT_SHAPE", "INCORRECT_NUMERICAL",
                                        "INCORRECT_DTYPE", "RUNTIME_ERROR",   "COMPILE_ERROR",
                                        "TIMEOUT"};

struct Rule {
  bool correctness, performance;
};
Rule rule_of(const std::string& status) {
  return {status == "PASSED" || status == "INCORRECT_NUMERICAL", status == "PASSED"};
}

std::string broken_rule(const TraceEvaluation& e) {
  const Rule rule = rule_of(e.status);
  if (rule.correctness != e.correctness.has_value())
    return fmt::format("status {} {} `correctness`", e.status,
                       rule.correctness ? "needs" : "excludes");
  if (rule.performance != e.performance.has_value())
    return fmt::format("status {} {} `performance`", e.status,
                       rule.performance ? "needs" : "excludes");
  return {};
}

class EvaluationDecoder {
 public:
  EvaluationDecoder(Decoding& decoding, std::string pointer)
      : decoding_(decoding), pointer_(std::move(pointer)) {}

  TraceEvaluation run(const Json& j) {
    TraceEvaluation e;
    ObjectReader r(j, decoding_.source(), pointer_, decoding_.errors());
    e.status = r.string("status");
    const bool known = std::ranges::find(statuses, e.status) != statuses.end();
    if (!known && !e.status.empty())
      r.error("status", fmt::format("unknown status `{}`", e.status),
              fmt::format("known: {}", fmt::join(statuses, " ")));
    e.timestamp = r.string("timestamp");
    e.log = r.string_or("log", "");
    decoding_.warn_null(r, "log");
    if (const Json* environment = r.object("environment"))
      read_environment(*environment, e);
    if (const Json* c = r.object_or_null("correctness"))
      e.correctness = correctness(*c);
    if (const Json* p = r.object_or_null("performance"))
      e.performance = performance(*p);
    if (const std::string rule = known ? broken_rule(e) : std::string{}; !rule.empty())
      r.error({}, rule,
              "PASSED carries both figures, INCORRECT_NUMERICAL only `correctness`, every other "
              "status none");
    e.unknown = decoding_.unknown_keys(r, evaluation_keys);
    return e;
  }

 private:
  void read_environment(const Json& j, TraceEvaluation& e) {
    const std::string pointer = pointer_to(pointer_, "environment");
    ObjectReader r(j, decoding_.source(), pointer, decoding_.errors());
    e.hardware = r.string("hardware");
    if (const Json* libs = r.object_or_null("libs"))
      for (const auto& [name, version] : libs->items()) {
        if (version.is_string())
          e.libs.emplace_back(name, version.get<std::string>());
        else
          decoding_.error(pointer_to(r.pointer("libs"), name),
                          fmt::format("the version of `{}` must be a string", name));
      }
    e.environment_unknown = decoding_.unknown_keys(r, environment_keys);
  }
  /// Error figures: 0 or more, infinity and NaN included; null as some writers leave them.
  double figure(ObjectReader& r, const char* key, bool may_be_infinite) {
    const Json* v = r.any(key);
    if (v != nullptr && v->is_null()) {
      decoding_.warn_null(r, key);
      return may_be_infinite ? std::nan("") : 0;
    }
    const double d = r.number_or(key, 0);
    if (d < 0 || (!may_be_infinite && !std::isfinite(d)))
      r.error(key, fmt::format("`{}` must be {}0 or more", key,
                               may_be_infinite ? "" : "a finite number, "));
    return d;
  }
  TraceCorrectness correctness(const Json& j) {
    TraceCorrectness c;
    ObjectReader r(j, decoding_.source(), pointer_to(pointer_, "correctness"), decoding_.errors());
    c.max_relative_error = figure(r, "max_relative_error", true);
    c.max_absolute_error = figure(r, "max_absolute_error", true);
    if (const Json* extra = r.object_or_null("extra"))
      c.extra = dump_json(*extra);
    c.unknown = decoding_.unknown_keys(r, correctness_keys);
    return c;
  }
  TracePerformance performance(const Json& j) {
    TracePerformance p;
    ObjectReader r(j, decoding_.source(), pointer_to(pointer_, "performance"), decoding_.errors());
    p.latency_ms = figure(r, "latency_ms", false);
    p.reference_latency_ms = figure(r, "reference_latency_ms", false);
    p.speedup_factor = figure(r, "speedup_factor", false);
    p.unknown = decoding_.unknown_keys(r, performance_keys);
    return p;
  }

  Decoding& decoding_;
  std::string pointer_;
};

Json evaluation_to_json(const TraceEvaluation& e) {
  Json j = Json::object();
  j["status"] = e.status;
  Json& environment = j["environment"] = Json::object();
  environment["hardware"] = e.hardware;
  environment["libs"] = Json::object();
  for (const auto& [name, version] : e.libs)
    environment["libs"][name] = version;
  merge_unknown(environment, e.environment_unknown);
  j["timestamp"] = e.timestamp;
  j["log"] = e.log;
  j["correctness"] = nullptr;
  j["performance"] = nullptr;
  if (e.correctness) {
    Json& c = j["correctness"] = Json::object();
    c["max_relative_error"] = number_to_json(e.correctness->max_relative_error);
    c["max_absolute_error"] = number_to_json(e.correctness->max_absolute_error);
    c["extra"] = nullptr;
    if (auto extra = parse_json({.file = {}, .text = e.correctness->extra});
        extra && extra->is_object())
      c["extra"] = std::move(*extra);
    merge_unknown(c, e.correctness->unknown);
  }
  if (e.performance) {
    Json& p = j["performance"] = Json::object();
    p["latency_ms"] = e.performance->latency_ms;
    p["reference_latency_ms"] = e.performance->reference_latency_ms;
    p["speedup_factor"] = e.performance->speedup_factor;
    merge_unknown(p, e.performance->unknown);
  }
  merge_unknown(j, e.unknown);
  return j;
}

} // namespace

std::optional<Trace> decode_trace(std::string_view text, const std::string& file, int line,
                                  Issues& issues) {
  Decoding decoding({.file = file, .text = text, .first_line = line}, issues);
  const Json j = parse_object(decoding);
  if (!j.is_object()) {
    decoding.finish();
    return std::nullopt;
  }
  Trace t;
  t.where = fmt::format("{}:{}", file, line);
  ObjectReader r(j, decoding.source(), "", decoding.errors());
  t.definition = r.string("definition");
  if (const Json* w = r.object("workload"))
    t.workload = decode_workload_object(decoding, *w, "/workload");
  t.workload.where = t.where;
  if (const Json* s = r.any("solution"); s != nullptr && !s->is_null())
    t.solution = r.string_or("solution", "");
  if (const Json* e = r.object_or_null("evaluation"))
    t.evaluation = EvaluationDecoder(decoding, "/evaluation").run(*e);
  if (t.solution.has_value() != t.evaluation.has_value() && !decoding.failed())
    decoding.warn("",
                  t.solution ? "a trace names a solution but has no evaluation"
                             : "a trace has an evaluation but names no solution",
                  "give both, or neither for a workload");
  t.unknown = decoding.unknown_keys(r, trace_keys);
  t.workload.trace_unknown = t.unknown;
  return decoding.finish() ? std::optional(std::move(t)) : std::nullopt;
}

std::vector<Trace> decode_traces(std::string_view text, const std::string& file, Issues& issues) {
  std::vector<Trace> out;
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (trim(one).empty())
      continue;
    if (auto t = decode_trace(one, file, line, issues))
      out.push_back(std::move(*t));
  }
  return out;
}

std::optional<Workload> decode_workload(std::string_view text, const std::string& file,
                                        Issues& issues) {
  Decoding decoding({.file = file, .text = text}, issues);
  const Json j = parse_object(decoding);
  if (!j.is_object()) {
    decoding.finish();
    return std::nullopt;
  }
  Workload w = decode_workload_object(decoding, j, "");
  w.where = file;
  return decoding.finish() ? std::optional(std::move(w)) : std::nullopt;
}

Status check_trace(const Trace& t) {
  const auto refuse = [&](std::string why) {
    return fail(ErrorKind::invalid_input,
                fmt::format("a trace of `{}` cannot be written: {}", t.definition, why),
                "every tool that reads the format would refuse the line", t.where);
  };
  if (t.definition.empty() || t.workload.uuid.empty())
    return refuse("definition and workload uuid must not be empty");
  for (const auto& [name, value] : t.workload.axes)
    if (value < 0)
      return refuse(fmt::format("axis `{}` is negative", name));
  if (t.solution.has_value() != t.evaluation.has_value())
    return refuse("solution and evaluation go together");
  if (!t.evaluation)
    return {};
  const TraceEvaluation& e = *t.evaluation;
  if (std::ranges::find(statuses, e.status) == statuses.end())
    return refuse(fmt::format("`{}` is no status of the format", e.status));
  if (e.hardware.empty() || e.timestamp.empty())
    return refuse("hardware and timestamp must not be empty");
  if (const std::string rule = broken_rule(e); !rule.empty())
    return refuse(rule);
  if (e.correctness &&
      (e.correctness->max_absolute_error < 0 || e.correctness->max_relative_error < 0))
    return refuse("an error figure is negative");
  if (e.performance)
    for (const double v : {e.performance->latency_ms, e.performance->reference_latency_ms,
                           e.performance->speedup_factor})
      if (!(v >= 0) || std::isinf(v))
        return refuse("a time or ratio is negative or not finite");
  return {};
}

Result<std::string> encode_trace(const Trace& trace) {
  KW_CHECK(check_trace(trace));
  Json j = Json::object();
  j["definition"] = trace.definition;
  j["workload"] = workload_to_json(trace.workload);
  j["solution"] = trace.solution ? Json(*trace.solution) : Json(nullptr);
  j["evaluation"] = trace.evaluation ? evaluation_to_json(*trace.evaluation) : Json(nullptr);
  merge_unknown(j, trace.unknown);
  return dump_json(j);
}

std::string encode_workload_line(const Workload& workload, const std::string& definition) {
  Json j = Json::object();
  j["definition"] = definition;
  j["workload"] = workload_to_json(workload);
  j["solution"] = nullptr;
  j["evaluation"] = nullptr;
  merge_unknown(j, workload.trace_unknown);
  return dump_json(j);
}

} // namespace kw
