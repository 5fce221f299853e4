// SPDX-License-Identifier: Apache-2.0
// The rest of the page: why the verdict is what it is, and how to get it again.
#include "report/charts.hpp"
#include "report/escape.hpp"
#include "report/fib_text.hpp"
#include "report/html_page.hpp"
#include "report/units.hpp"
#include "report/verdict_text.hpp"

#include <fmt/format.h>

namespace kw::html {
namespace {

std::string axis_row(std::string_view title, const AxisVerdict& axis,
                     const std::vector<std::string>& more = {}) {
  const std::string_view css = axis.outcome == Outcome::pass   ? "pass"
                               : axis.outcome == Outcome::fail ? "fail"
                                                               : "unknown";
  std::string evidence = xml_text(axis.summary);
  std::string items;
  for (const std::vector<std::string>* list : {&more, &axis.details})
    for (const std::string& line : *list)
      items += element("li", "", line);
  if (!items.empty())
    evidence += "<ul>" + items + "</ul>";
  return fmt::format("<tr><td class=\"w\">{}</td><td class=\"w {}\">{}</td><td>{}</td></tr>\n",
                     xml_text(title), css,
                     axis.outcome == Outcome::unknown ? "-" : name(axis.outcome), evidence);
}

/// What flashinfer-bench would say; no axis of our verdict.
std::string fib_row(const Verdict& v) {
  if (!v.fib)
    return {};
  const std::string_view css = fib_differs(v) ? "undecided" : "unknown";
  return fmt::format(
      "<tr><td class=\"w\">fib-compat</td><td class=\"w {}\">{}</td><td>{}</td></tr>\n", css,
      v.fib->status.empty() ? "-" : xml_text(v.fib->status),
      xml_text(v.fib->status.empty() ? v.fib->reason : fib_sentence(v)));
}

std::vector<std::string> mismatch_lines(const Verdict& v) {
  if (!v.mismatch)
    return {};
  std::vector<std::string> lines = {"workload " + v.mismatch->workload + ", inputs of class `" +
                                        v.mismatch->input_class +
                                        "`: " + mismatch_sentence(*v.mismatch),
                                    mismatch_figures(*v.mismatch)};
  if (v.mismatch->place)
    lines.push_back("where: " + v.mismatch->place->text);
  for (std::string more : {mismatch_parts(*v.mismatch), mismatch_hint(*v.mismatch)})
    if (!more.empty())
      lines.push_back(std::move(more));
  return lines;
}

std::vector<std::string> correctness_lines(const Verdict& v) {
  std::vector<std::string> lines = mismatch_lines(v);
  if (v.exercise)
    lines.push_back(exercise_sentence(v));
  if (v.precision)
    lines.push_back(precision_sentence(v));
  return lines;
}

std::vector<std::string> method_lines(const Verdict& v) {
  if (!v.times)
    return {};
  const TimingEvidence& t = *v.times;
  return {fmt::format("clock: {}; doorbell: {}", t.clock, t.doorbell),
          fmt::format("windows of at least {}, {} per half round; {} protocol",
                      duration_text(t.window_ns), t.windows_per_half, t.protocol)};
}

std::string trials_table(const OptimizeReport& r) {
  if (r.verdict.workloads.empty())
    return {};
  std::map<std::string, std::string> axes;
  for (const ReportWorkload& w : r.workloads)
    axes[w.uuid] = label(w);
  std::string out =
      "<details><summary>Trials per workload</summary><div class=\"scroll\"><table>\n"
      "<thead><tr><th>workload</th><th class=\"n\">trials</th><th class=\"n\">failed</th>"
      "<th class=\"n\">largest error, in rounding units (eta)</th>"
      "<th class=\"n\">absolute</th><th class=\"n\">relative</th>"
      "<th class=\"n\">ulp, first trial</th></tr></thead>\n<tbody>\n";
  for (const WorkloadTrials& w : r.verdict.workloads) {
    const auto found = axes.find(w.uuid);
    out += "<tr>" + cell("", found != axes.end() ? found->second : w.uuid) +
           cell("n", count_text(w.trials)) + cell("n", count_text(w.failures)) +
           cell("n", fmt::format("{:.3g}", w.max_eta)) +
           cell("n", fmt::format("{:.3g}", w.max_abs_error)) +
           cell("n", fmt::format("{:.3g}", w.max_rel_error)) +
           cell("n", w.max_ulp ? fmt::format("{:.3g}", *w.max_ulp) : "-") + "</tr>\n";
  }
  return out + "</tbody></table></div></details>\n";
}

std::string diagnostics_block(const Verdict& v) {
  std::string text;
  for (const Diagnostic& d : v.diagnostics)
    text += fmt::format("{}:{}:{}: {}: {}\n{}\n", d.file, d.line, d.column, d.severity, d.message,
                        d.excerpt);
  return text.empty() ? "" : "<h3>Compiler</h3>" + element("pre", "", text) + "\n";
}

std::string pairs_table(std::string_view title, const std::string& rows) {
  return rows.empty()
             ? ""
             : fmt::format("<h3>{}</h3><div class=\"scroll\"><table><tbody>\n{}</tbody></table>"
                           "</div>\n",
                           title, rows);
}

} // namespace

std::string evidence(const OptimizeReport& r) {
  const Verdict& v = r.verdict;
  std::string out = "<section>\n<h2>Evidence</h2>\n<p class=\"sub\">";
  out += xml_text(v.gate.empty()
                      ? "What each axis of the verdict rests on."
                      : fmt::format("What each axis of the verdict rests on; gate: {}.", v.gate));
  out += "</p>\n<div class=\"scroll\"><table><tbody>\n";
  out += axis_row("build", v.build) + axis_row("sandbox", v.sandbox) +
         axis_row("correctness", v.correctness, correctness_lines(v)) +
         axis_row("timing", v.timing, method_lines(v)) + axis_row("merit", v.merit) + fib_row(v);
  out += "</tbody></table></div>\n";
  if (!v.infrastructure_error.empty())
    out += element("p", "undecided", "Our side failed: " + v.infrastructure_error);
  out += diagnostics_block(v) + trials_table(r);
  if (v.times) {
    const bool confirmed = !v.times->confirmation.empty();
    const std::vector<PairedTiming>& timings = confirmed ? v.times->confirmation : v.times->gate;
    if (!timings.empty()) {
      std::map<std::string, std::string> axes;
      for (const ReportWorkload& w : r.workloads)
        axes[w.uuid] = label(w);
      out += fmt::format("<details open=\"open\"><summary>Paired rounds of the {}{}</summary>\n"
                         "<div class=\"scroll\">{}</div></details>\n",
                         confirmed ? "confirmation" : "gate",
                         timings.size() > 12 ? fmt::format(" (12 of {})", timings.size()) : "",
                         draw_rounds(timings, axes).inline_text());
    }
  }
  return out + "</section>\n";
}

std::string probes(const OptimizeReport& r) {
  if (r.probes.empty())
    return {};
  std::string out = "<section>\n<h2>All probes</h2>\n<details><summary>";
  out += fmt::format(
      "{} attempts with their reasons</summary>\n<div class=\"scroll\"><table>\n<thead>"
      "<tr><th class=\"n\">#</th><th class=\"n\">time</th><th>tried</th><th>outcome</th>"
      "<th class=\"n\">speed-up</th><th>decision</th><th>reason</th><th>id</th></tr>"
      "</thead>\n<tbody>\n",
      r.probes.size());
  for (const ReportProbe& p : r.probes) {
    const bool kept = p.decision == "keep" || p.decision == "promote";
    out += "<tr>" + cell("n", std::to_string(p.index)) + cell("n", clock_text(p.seconds)) +
           cell("t", p.hypothesis) +
           cell(p.finding.empty() || p.finding == "NONE" ? "" : "fail", p.outcome) +
           cell("n", p.speedup ? ratio_text(*p.speedup) : "-") +
           cell(kept ? "pass" : "", p.decision) + cell("t", p.reason) + "<td class=\"i\">" +
           element("code", "", p.id.substr(0, 8)) + "</td></tr>\n";
  }
  return out + "</tbody></table></div></details>\n</section>\n";
}

std::string solution(const OptimizeReport& r) {
  if (r.sources.empty())
    return {};
  std::string out = "<section>\n<h2>The winning solution</h2>\n";
  for (const SourceFile& file : r.sources) {
    const bool small = file.content.size() < 6000;
    out +=
        fmt::format("<details{}><summary>{}</summary>{}</details>\n", small ? " open=\"open\"" : "",
                    xml_text(file.path), element("pre", "", file.content));
  }
  return out + "</section>\n";
}

std::string reproduce(const OptimizeReport& r) {
  std::string out = "<section>\n<h2>Reproduce</h2>\n";
  if (!r.replay_command.empty())
    out += element("pre", "command", r.replay_command) + "\n";
  std::string seeds;
  const auto pair_row = [](std::string_view key, std::string_view value) {
    return "<tr>" + cell("w", key) + "<td>" + element("code", "", value) + "</td></tr>\n";
  };
  if (!r.record.empty())
    seeds += pair_row("record", r.record);
  if (!r.seed_commitment.empty())
    seeds += pair_row("seed commitment (sha256, fixed before the run)", r.seed_commitment);
  if (!r.seed.empty())
    seeds += pair_row("seed (revealed)", r.seed);
  out += pairs_table("Seal", seeds);
  std::string environment;
  for (const auto& [key, value] : r.environment)
    environment += pair_row(key, value);
  out += pairs_table("Environment", environment);
  std::string options;
  for (const ReportOption& o : r.options)
    options += "<tr>" + cell("w", o.name) + "<td>" + element("code", "", o.value) + "</td>" +
               cell("unknown", o.origin) + "</tr>\n";
  out += pairs_table("Options and where they came from", options);
  return out + "</section>\n";
}

} // namespace kw::html
