// SPDX-License-Identifier: Apache-2.0
// The top of the page: what was tried, what came out, how it went.
#include "report/charts.hpp"
#include "report/escape.hpp"
#include "report/html_page.hpp"
#include "report/render.hpp"
#include "report/units.hpp"
#include "report/verdict_text.hpp"
#include "stats/objective.hpp"

#include <fmt/format.h>

namespace kw::html {
namespace {

bool confirmed(const OptimizeReport& r) {
  return r.verdict.times && r.verdict.times->speedup > 0;
}

std::string tile(std::string_view title, std::string_view value, std::string_view more) {
  return fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>\n", xml_text(title), xml_text(value),
                     more.empty() ? "" : "<small>" + xml_text(more) + "</small>");
}

std::string_view word_css(const Verdict& v) {
  if (v.accepted)
    return "pass";
  return v.word == "REJECTED" ? "fail" : v.word.empty() ? "unknown" : "undecided";
}

} // namespace

std::string element(std::string_view tag, std::string_view css, std::string_view text) {
  return fmt::format("<{0}{1}>{2}</{0}>", tag, css.empty() ? "" : fmt::format(" class=\"{}\"", css),
                     xml_text(text));
}

std::string cell(std::string_view css, std::string_view text) {
  return element("td", css, text);
}

std::string header(const OptimizeReport& r) {
  std::string eyebrow = "Kernwright · optimize";
  if (!r.run.empty())
    eyebrow += " · run " + r.run;
  if (!r.started_at.empty())
    eyebrow += " · " + r.started_at;
  const std::string word = r.verdict.word.empty() ? "NO VERDICT" : r.verdict.word;
  return fmt::format(
      "<header>\n<p class=\"eyebrow\">{}</p>\n<h1>{} <span class=\"pill {}\">{}</span>"
      "</h1>\n<p class=\"sub\">{}</p>\n</header>\n",
      xml_text(eyebrow), xml_text(r.definition), word_css(r.verdict), xml_text(word),
      xml_text(r.description));
}

std::string hero(const OptimizeReport& r) {
  std::string out = "<section class=\"hero\">\n<div>\n";
  if (!r.champion.empty() && confirmed(r)) {
    const TimingEvidence& t = *r.verdict.times;
    out += fmt::format("<div class=\"figure\">{} <span class=\"interval\">{}</span></div>\n",
                       xml_text(ratio_text(t.speedup)), xml_text(interval_text(t.low, t.high)));
    out += fmt::format("<p class=\"sub\">{}; {} {} against <b>{}</b>, 95 % interval, "
                       "from the confirmation run alone</p>\n",
                       described(objective_from_name(t.objective).value_or(Objective::weighted)),
                       r.workloads.size(), r.workloads.size() == 1 ? "workload" : "workloads",
                       xml_text(r.baseline));
    out += fmt::format("<p><code>{}</code></p>\n", xml_text(r.champion));
  } else if (!r.champion.empty()) {
    out +=
        fmt::format("<div class=\"figure\">-</div>\n<p class=\"sub\">kept, but its speed-up over "
                    "<b>{}</b> was not confirmed</p>\n<p><code>{}</code></p>\n",
                    xml_text(r.baseline), xml_text(r.champion));
  } else {
    out += "<div class=\"figure\">1.00x</div>\n";
    out += fmt::format("<p class=\"sub\">no candidate beat <b>{}</b> within the budget</p>\n",
                       xml_text(r.baseline));
  }
  out += "</div>\n<dl class=\"tiles\">\n";
  if (const double bound = bound_fraction(r); bound > 0)
    out += tile("of the roofline bound", share_text(bound), "weighted over the workloads");
  if (r.verdict.trials > 0)
    out += tile(
        "correctness",
        fmt::format("{} {}", count_text(r.verdict.trials),
                    r.verdict.correctness.outcome == Outcome::pass ? "clean trials" : "trials"),
        r.verdict.failure_rate_bound < 0.5
            ? fmt::format("failure rate < {} at 95 %", percent_text(r.verdict.failure_rate_bound))
            : "");
  const std::string counts = probe_counts(r);
  const std::size_t colon = counts.find(": ");
  out += tile("search", counts.substr(0, colon),
              colon == std::string::npos ? "" : std::string_view(counts).substr(colon + 2));
  out += tile("time", clock_text(r.wall_seconds) + " min",
              r.budget.empty() ? "" : "budget " + r.budget);
  if (!r.verdict.tier.empty())
    out += tile("sandbox", "tier " + r.verdict.tier,
                r.verdict.tainted ? "weaker than demanded: tainted" : "");
  if (r.verdict.times)
    out += tile("timing", r.verdict.times->fit ? "machine fit" : "machine unfit",
                fmt::format("{} protocol, A/A {}", r.verdict.times->protocol,
                            share_text(r.verdict.times->aa_sigma)));
  return out + "</dl>\n</section>\n";
}

std::string trajectory(const OptimizeReport& r) {
  if (r.probes.empty())
    return {};
  // Tabs without a script: two radio buttons and the sibling rule in the style sheet.
  return fmt::format("<section>\n<h2>The search</h2>\n<p class=\"sub\">Every attempt, kept or "
                     "rejected. Point at a "
                     "mark for what it tried.</p>\n<div class=\"tabs\">\n"
                     "<input type=\"radio\" name=\"axis\" id=\"by-time\" checked=\"checked\"/>"
                     "<label for=\"by-time\">over time</label>\n"
                     "<input type=\"radio\" name=\"axis\" id=\"by-probe\"/><label "
                     "for=\"by-probe\">over probes</label>\n"
                     "<div class=\"pane pane-time scroll\">\n{}</div>\n<div class=\"pane "
                     "pane-probe scroll\">\n{}</div>\n"
                     "</div>\n</section>\n",
                     draw_trajectory(r, TrajectoryAxis::seconds).inline_text(),
                     draw_trajectory(r, TrajectoryAxis::probes).inline_text());
}

std::string workloads(const OptimizeReport& r) {
  if (r.workloads.empty())
    return {};
  std::string out = "<section>\n<h2>Per workload</h2>\n<p class=\"sub\">Bars start at the baseline "
                    "(1x). The shaded track ends at the roofline floor of this machine.</p>\n";
  out += "<div class=\"scroll\">" + draw_workloads(r).inline_text() + "</div>\n";
  out +=
      "<details open=\"open\"><summary>Table</summary>\n<div class=\"scroll\"><table>\n<thead><tr>"
      "<th>workload</th><th class=\"n\">baseline</th><th class=\"n\">champion</th>"
      "<th class=\"n\">speed-up</th><th>95 %</th><th class=\"n\">floor</th>"
      "<th class=\"n\">of bound</th>";
  for (const std::string& peer : r.peers)
    out += element("th", "n", peer) + element("th", "n", "vs " + peer);
  out += "</tr></thead>\n<tbody>\n";
  for (const ReportWorkload& w : r.workloads) {
    out += "<tr>" + cell("", label(w)) + cell("n", duration_text(w.baseline_ns)) +
           cell("n", duration_text(w.candidate_ns)) + cell("n", ratio_text(w.speedup)) +
           cell("i", interval_text(w.low, w.high)) + cell("n", duration_text(w.floor_ns)) +
           cell("n", w.bound_fraction > 0 ? share_text(w.bound_fraction) : "-");
    for (const std::string& peer : r.peers) {
      const auto ns = w.peers_ns.find(peer);
      const bool there = ns != w.peers_ns.end() && w.candidate_ns > 0;
      out += cell("n", there ? duration_text(ns->second) : "-") +
             cell("n", there ? ratio_text(ns->second / w.candidate_ns) : "-");
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div></details>\n</section>\n";
}

} // namespace kw::html
