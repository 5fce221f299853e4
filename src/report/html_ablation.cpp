// SPDX-License-Identifier: Apache-2.0
#include "report/ablation_report.hpp"
#include "report/charts.hpp"
#include "report/escape.hpp"
#include "report/html_page.hpp"
#include "report/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

using html::cell;
using html::element;

bool ranked(const AblationComparison& c) {
  return c.refused.empty() && c.pairs > 0;
}

std::string_view css_of(const AblationComparison& c) {
  const std::string word = ablation_word(c);
  return word == "faster" ? "pass" : word == "slower" ? "fail" : "unknown";
}

/// One row per comparison: the interval as a whisker, a dot per definition.
Svg draw_comparisons(const AblationReport& r) {
  constexpr double left = 230, right = 90, top = 34, row_height = 34;
  double low = 0.95, high = 1.05;
  const auto include = [&](double value) {
    if (std::isfinite(value) && value > 0)
      low = std::min(low, value / 1.02), high = std::max(high, value * 1.02);
  };
  std::vector<const AblationComparison*> rows;
  for (const AblationComparison& c : r.comparisons)
    if (ranked(c)) {
      rows.push_back(&c);
      include(c.low), include(c.high);
      for (const auto& [definition, value] : c.per_definition)
        include(value);
    }
  const double bottom = top + row_height * static_cast<double>(rows.size());
  const Scale x{low, high, left, chart_width - right, true};
  Svg svg(chart_width, bottom + 10, "Speed of one arm over another",
          fmt::format("{} comparisons with 95 % intervals; a dot is one definition.", rows.size()));
  for (const double tick : log_ticks(low, high, 6)) {
    svg.line(x.at(tick), top - 6, x.at(tick), bottom, tick == 1 ? "one" : "grid");
    svg.text(x.at(tick), top - 12, fmt::format("{:.4g}x", tick), "small", "middle");
  }
  svg.line(x.at(1), top - 6, x.at(1), bottom, "one");
  double y = top + row_height / 2;
  for (const AblationComparison* c : rows) {
    svg.text(left - 14, y + 4, fmt::format("{} over {}", c->arm, c->against), "name", "end");
    for (const char* css : {"halo", "whisker"}) {
      svg.line(x.at(c->low), y, x.at(c->high), y, css);
      for (const double end : {c->low, c->high})
        svg.line(x.at(end), y - 5, x.at(end), y + 5, css);
    }
    for (const auto& [definition, value] : c->per_definition)
      if (std::isfinite(value) && value > 0)
        svg.circle(x.at(value), y, 4, "peer3",
                   fmt::format("{}: {}", definition, ratio_text(value)));
    svg.diamond(x.at(c->value), y, 6.5, "promote",
                fmt::format("{} {}", ratio_text(c->value), interval_text(c->low, c->high)));
    svg.text(chart_width - 8, y + 4, ratio_text(c->value), "strong", "end");
    y += row_height;
  }
  return svg;
}

std::string tile(std::string_view title, std::string_view value, std::string_view more) {
  return "<div>" + element("dt", "", title) + "<dd>" + xml_text(value) +
         (more.empty() ? "" : element("small", "", more)) + "</dd></div>\n";
}

std::string head(const AblationReport& r) {
  std::string out =
      "<header>\n" +
      element("p", "eyebrow", fmt::format("Kernwright · ablation {} · {}", r.id, r.started_at)) +
      "\n<h1>" + xml_text(fmt::format("{}", fmt::join(r.arms, ", "))) + "</h1>\n";
  return out +
         element("p", "sub",
                 "The same search with parts of it switched off: equal evaluations on equal "
                 "workloads, the champions of a seed timed against each other in the same rounds. "
                 "Ratios are speeds; above 1 the first is faster.") +
         "\n</header>\n";
}

std::string hero(const AblationReport& r) {
  std::string out = "<section class=\"hero\">\n<div>\n";
  if (!r.comparisons.empty()) {
    const AblationComparison& c = r.comparisons.front();
    out += "<div class=\"figure\">";
    out += ranked(c) ? xml_text(ratio_text(c.value)) + " " +
                           element("span", "interval", interval_text(c.low, c.high))
                     : "-";
    out += "</div>\n" + element("p", "sub", fmt::format("{} over {}", c.arm, c.against)) + "\n";
  }
  out += "</div>\n<dl class=\"tiles\">\n";
  out += tile("evaluations", std::to_string(r.evaluations),
              r.sessions > 1 ? fmt::format("in {} sessions", r.sessions) : "per arm and seed");
  out += tile("seeds", std::to_string(r.seeds), "");
  out += tile("definitions", std::to_string(r.tasks.size()), "");
  out += tile("runs and races", fmt::format("{} of {}", r.steps_done, r.steps),
              r.complete() ? "" : "not final");
  out += tile("machine time", clock_text(r.seconds), "");
  return out + "</dl>\n</section>\n";
}

std::string comparisons(const AblationReport& r) {
  std::string out = "<section>\n<h2>Arm against arm</h2>\n";
  if (std::any_of(r.comparisons.begin(), r.comparisons.end(), ranked))
    out += "<div class=\"scroll\">" + draw_comparisons(r).inline_text() + "</div>\n";
  out += "<div class=\"scroll\"><table>\n<thead><tr><th>speed of</th><th>over</th>"
         "<th class=\"n\">geomean</th><th>95 %</th><th class=\"n\">at least</th>"
         "<th class=\"n\">definitions</th><th class=\"n\">pairs</th>"
         "<th class=\"n\">one champion</th><th>result</th></tr></thead>\n<tbody>\n";
  for (const AblationComparison& c : r.comparisons)
    out += "<tr>" + cell("w", c.arm) + cell("w", c.against) +
           cell("n", ranked(c) ? ratio_text(c.value) : "-") +
           cell("i", ranked(c) ? interval_text(c.low, c.high) : "-") +
           cell("n", ranked(c) ? ratio_text(c.low95) : "-") +
           cell("n", std::to_string(c.definitions)) + cell("n", std::to_string(c.pairs)) +
           cell("n", std::to_string(c.same)) + cell(css_of(c), ablation_word(c)) + "</tr>\n";
  out += "</tbody></table></div>\n";
  for (const AblationComparison& c : r.comparisons)
    if (!c.refused.empty())
      out += element("p", "undecided",
                     fmt::format("{} and {} are not ranked: {}", c.arm, c.against, c.refused)) +
             "\n";
  return out +
         element("p", "sub",
                 "Geometric mean over definitions of the geometric mean over seeds; intervals by a "
                 "bootstrap that draws definitions, then seeds. \"At least\" is the one-sided 95 % "
                 "bound. Pairs with one champion for both count as 1 and are not raced.") +
         "\n</section>\n";
}

std::string tasks(const AblationReport& r) {
  std::string out = "<section>\n<h2>Workloads</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
                    "<th>definition</th><th>workloads, and a call of the baseline</th>"
                    "<th>left out</th></tr></thead>\n<tbody>\n";
  for (const AblationTaskReport& t : r.tasks)
    out += "<tr>" + cell("w", t.definition) +
           cell("", fmt::format("{}", fmt::join(t.workloads, "; "))) +
           cell("", t.left_out.empty() ? "-" : fmt::format("{}", fmt::join(t.left_out, "; "))) +
           "</tr>\n";
  return out + "</tbody></table></div>\n</section>\n";
}

std::string optional_ratio(const std::optional<double>& ratio) {
  return ratio ? ratio_text(*ratio) : "-";
}

std::string cells(const AblationReport& r) {
  if (r.cells.empty())
    return {};
  std::string out =
      fmt::format("<section>\n<h2>All runs</h2>\n<details><summary>{} runs</summary>\n"
                  "<div class=\"scroll\"><table>\n<thead><tr><th>definition</th>"
                  "<th class=\"n\">seed</th><th>arm</th><th class=\"n\">evaluations</th>"
                  "<th class=\"n\">time</th><th class=\"n\">of it builds</th>"
                  "<th class=\"n\">vs baseline</th>",
                  r.cells.size());
  out += element("th", "n", "vs " + r.reference) +
         "<th>champion</th><th>remarks</th></tr></thead>\n<tbody>\n";
  for (const AblationCell& c : r.cells) {
    std::vector<std::string> remarks;
    if (c.same)
      remarks.push_back(fmt::format("the champion of {}: no race", r.reference));
    if (!c.fault.empty())
      remarks.push_back("the baseline stands for it: " + c.fault);
    if (!c.unmatched.empty())
      remarks.push_back("unmatched: " + c.unmatched);
    out += "<tr>" + cell("w", c.definition) + cell("n", std::to_string(c.seed)) + cell("", c.arm) +
           cell("n", std::to_string(c.evaluations)) + cell("n", clock_text(c.seconds)) +
           cell("n", clock_text(c.build_seconds)) + cell("n", optional_ratio(c.over_baseline)) +
           cell("n", optional_ratio(c.over_reference)) +
           cell("", c.champion.empty() ? "baseline" : c.champion) +
           cell("t", fmt::format("{}", fmt::join(remarks, "; "))) + "</tr>\n";
  }
  return out + "</tbody></table></div></details>\n</section>\n";
}

std::string reproduce(const AblationReport& r) {
  std::string out = "<section>\n<h2>Conditions</h2>\n<div class=\"scroll\"><table><tbody>\n";
  for (const auto& [key, value] : r.environment)
    out += "<tr>" + cell("w", key) + "<td>" + element("code", "", value) + "</td></tr>\n";
  out += "<tr>" + cell("w", "matching") +
         cell("", fmt::format("same workloads, same evaluations, times without builds no more than "
                              "{:.3g} times and {:.0f} s apart",
                              r.wall_factor, r.wall_seconds)) +
         "</tr>\n</tbody></table></div>\n";
  if (!r.complete())
    out += element("pre", "command", r.resume_command) + "\n";
  return out + "</section>\n";
}

} // namespace

std::string ablation_html(const AblationReport& r) {
  return html::document("Ablation " + r.id, r.version,
                        head(r) + hero(r) + comparisons(r) + tasks(r) + cells(r) + reproduce(r));
}

} // namespace kw
