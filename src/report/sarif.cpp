// SPDX-License-Identifier: Apache-2.0
// SARIF 2.1.0 (OASIS). Section numbers below are those of the standard.
#include "base/json.hpp"
#include "report/escape.hpp"
#include "report/evaluate_report.hpp"
#include "report/verdict_text.hpp"

#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

struct Rule {
  const char* id;
  const char* text;
};
// One rule per finding, in the order of the enum; `ruleIndex` relies on it.
constexpr std::array rules = {
    Rule{"UNDECIDED", "The measurement could not decide."},
    Rule{"REJECT_BUILD", "The solution does not compile or link."},
    Rule{"REJECT_STATIC", "The built object breaks an admission rule."},
    Rule{"REJECT_SANDBOX", "The candidate tried something that the sandbox forbids."},
    Rule{"REJECT_PROTOCOL", "The candidate exited or refused a shape inside its contract."},
    Rule{"CRASH", "The candidate died of a signal."},
    Rule{"REJECT_WRONG", "An output differs from the reference by more than the tolerance."},
    Rule{"REJECT_STATE", "The candidate changed inputs, guard bytes or processor state."},
    Rule{"REJECT_NONDET", "Equal inputs gave different outputs."},
    Rule{"REJECT_TIMING", "The measured times are not physically possible."},
    Rule{"REJECT_RESOURCE", "The candidate hung or used too much memory."},
    Rule{"REJECT_SANITIZER", "A build with sanitizers reported a fault, or died."},
};

std::size_t rule_index(const Verdict& v) {
  return static_cast<std::size_t>(v.finding);
}

/// A relative reference as RFC 3986 wants it (3.4.3 of the standard).
std::string uri(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Json location(const std::string& file, int line, int column) {
  Json physical = {{"artifactLocation", {{"uri", uri(file)}}}};
  if (line > 0) {
    physical["region"] = {{"startLine", line}};
    if (column > 0)
      physical["region"]["startColumn"] = column;
  }
  return Json::array({Json{{"physicalLocation", physical}}});
}

/// Of this result across runs (3.27.17): same solution and finding, same fingerprint.
Json fingerprint(const EvaluatedSolution& s, std::string_view what) {
  return {{"kernwright/v1", valid_utf8(fmt::format("{}:{}", s.name, what))}};
}

Json result(const EvaluatedSolution& s, const std::string& level, const std::string& message) {
  const std::size_t rule = rule_index(s.verdict);
  return {{"ruleId", rules.at(rule).id},
          {"ruleIndex", rule},
          {"level", level},
          {"message", {{"text", valid_utf8(s.name + ": " + message)}}}};
}

void append_results(Json& results, const EvaluatedSolution& s) {
  const Verdict& v = s.verdict;
  for (const Diagnostic& d : v.diagnostics) {
    // 3.27.10 knows these levels; anything else counts as a note.
    const std::string level =
        d.severity == "error" || d.severity == "warning" ? d.severity : "note";
    if (v.accepted && level != "error")
      continue;
    Json r = result(s, level, d.message);
    const std::string& file = d.file.empty() ? s.file : d.file;
    if (!file.empty())
      r["locations"] = location(file, d.file.empty() ? 0 : d.line, d.file.empty() ? 0 : d.column);
    r["partialFingerprints"] = fingerprint(s, fmt::format("{}:{}", d.file, d.message));
    results.push_back(std::move(r));
  }
  if (v.accepted || v.word == "INFRASTRUCTURE")
    return;
  const bool told_by_compiler = v.finding == Finding::build && !v.diagnostics.empty();
  if (told_by_compiler)
    return;
  std::string message;
  for (const AxisVerdict* axis : {&v.build, &v.sandbox, &v.correctness, &v.timing, &v.merit})
    if (message.empty() && axis->outcome == Outcome::fail)
      message = axis->summary;
  if (v.mismatch)
    message += (message.empty() ? "" : "; ") + mismatch_sentence(*v.mismatch) + "; " +
               mismatch_figures(*v.mismatch);
  if (message.empty())
    message = v.merit.summary.empty() ? v.word : v.merit.summary;
  Json r = result(s, v.finding == Finding::none ? "warning" : "error", message);
  if (!s.file.empty())
    r["locations"] = location(s.file, 0, 0);
  r["partialFingerprints"] = fingerprint(s, rules.at(rule_index(v)).id);
  if (!s.replay_command.empty())
    r["properties"] = {{"replay", valid_utf8(s.replay_command)}};
  results.push_back(std::move(r));
}

} // namespace

std::string sarif_json(const EvaluateReport& report) {
  Json driver = {{"name", "kernwright"}, {"version", valid_utf8(report.version)}};
  driver["rules"] = Json::array();
  for (const Rule& rule : rules)
    driver["rules"].push_back({{"id", rule.id}, {"shortDescription", {{"text", rule.text}}}});
  Json results = Json::array();
  Json notifications = Json::array();
  for (const EvaluatedSolution& s : report.solutions) {
    append_results(results, s);
    if (s.verdict.word == "INFRASTRUCTURE")
      notifications.push_back(
          {{"level", "error"},
           {"message", {{"text", valid_utf8(s.name + ": " + s.verdict.infrastructure_error)}}}});
  }
  const bool successful = notifications.empty();
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"invocations", Json::array({Json{{"executionSuccessful", successful},
                                                {"toolExecutionNotifications", notifications}}})},
              {"columnKind", "unicodeCodePoints"},
              {"results", std::move(results)},
              {"properties", {{"definition", valid_utf8(report.definition)}}}};
  const Json document = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                         {"version", "2.1.0"},
                         {"runs", Json::array({std::move(run)})}};
  return document.dump(2) + "\n";
}

} // namespace kw
