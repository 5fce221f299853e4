// SPDX-License-Identifier: Apache-2.0
#include "report/escape.hpp"
#include "report/evaluate_report.hpp"
#include "report/verdict_text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

double seconds(const Verdict& v) {
  const auto total = v.cost_ms.find("total");
  return total == v.cost_ms.end() ? 0.0 : total->second / 1000;
}

/// The summary of the first axis that is not a pass, for the one line that CI shows.
std::string headline(const Verdict& v) {
  if (v.word == "INFRASTRUCTURE")
    return v.infrastructure_error;
  for (const AxisVerdict* axis : {&v.build, &v.sandbox, &v.correctness, &v.timing, &v.merit})
    if (axis->outcome == Outcome::fail)
      return axis->summary;
  return v.merit.summary.empty() ? v.timing.summary : v.merit.summary;
}

} // namespace

std::string junit_xml(const EvaluateReport& report) {
  const auto errors = std::ranges::count_if(report.solutions, [](const EvaluatedSolution& s) {
    return s.verdict.word == "INFRASTRUCTURE";
  });
  const auto failures = std::ranges::count_if(report.solutions, [](const EvaluatedSolution& s) {
    return !s.verdict.accepted && s.verdict.word != "INFRASTRUCTURE";
  });
  double total = 0;
  std::string cases;
  for (const EvaluatedSolution& s : report.solutions) {
    const Verdict& v = s.verdict;
    total += seconds(v);
    const std::string text =
        xml_text(render_verdict(v, VerdictView{.name = {}, .next_command = s.replay_command}));
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"{} time=\"{:.3f}\">\n",
                         xml_text(report.definition), xml_text(s.name),
                         s.file.empty() ? "" : fmt::format(" file=\"{}\"", xml_text(s.file)),
                         seconds(v));
    if (!v.accepted) {
      const bool ours = v.word == "INFRASTRUCTURE";
      const std::string type = v.finding == Finding::none ? v.word : name(v.finding);
      cases += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n",
                           ours ? "error" : "failure", xml_text(type), xml_text(headline(v)), text);
    } else {
      cases += fmt::format("      <system-out>{}</system-out>\n", text);
    }
    cases += "    </testcase>\n";
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"{:.3f}\"",
                  report.solutions.size(), failures, errors, total);
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuites name=\"kernwright evaluate\" {0}>\n"
                     "  <testsuite name=\"{1}\" {0}>\n{2}  </testsuite>\n"
                     "</testsuites>\n",
                     counts, xml_text(report.definition), cases);
}

} // namespace kw
