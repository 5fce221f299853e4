// SPDX-License-Identifier: Apache-2.0
// How the search went: rounds, the dispatch it ended in, who brought it about, what it cost.
#include "report/escape.hpp"
#include "report/html_page.hpp"
#include "report/units.hpp"

#include <fmt/format.h>

namespace kw::html {

std::string rounds(const OptimizeReport& r) {
  if (r.rounds.empty())
    return {};
  std::string out = "<section>\n<h2>Rounds of the search</h2>\n<details><summary>";
  out += fmt::format(
      "{} rounds: state, direction, what it was to bring and what it brought</summary>\n"
      "<div class=\"scroll\"><table>\n<thead><tr><th>regime</th><th "
      "class=\"n\">round</th><th>by</th>"
      "<th>state</th><th>direction</th><th class=\"n\">predicted</th><th class=\"n\">measured</th>"
      "<th class=\"n\">right of tried</th><th>why</th></tr></thead>\n<tbody>\n",
      r.rounds.size());
  for (const ReportRound& round : r.rounds)
    out +=
        "<tr>" + cell("t", round.regime) +
        cell("n", round.number == 0 ? "-" : std::to_string(round.number)) +
        cell("t", round.proposer) + cell("", round.state.empty() ? "-" : round.state) +
        cell("t", round.direction) +
        cell("n", round.direction == "model" ? "-" : ratio_text(round.predicted)) +
        cell(round.measured > 1 ? "n pass" : "n", ratio_text(round.measured)) +
        cell("n", fmt::format("{} of {}", round.valid, round.tried)) +
        cell("t", round.intervention.empty() ? round.why : round.intervention + "; " + round.why) +
        "</tr>\n";
  return out + "</tbody></table></div></details>\n</section>\n";
}

std::string branches(const OptimizeReport& r) {
  if (r.branches.empty())
    return {};
  std::string out =
      "<section>\n<h2>Dispatch</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>calls</th>"
      "<th class=\"n\">workloads</th><th class=\"n\">weight</th><th>kernel</th><th>by</th>"
      "<th class=\"n\">search estimate</th><th>bound by</th><th class=\"n\">headroom</th></tr>"
      "</thead>\n<tbody>\n";
  for (const ReportBranch& b : r.branches)
    out +=
        "<tr>" + cell("t", b.condition.empty() ? b.regime + " (all that is left)" : b.condition) +
        cell("n", std::to_string(b.workloads)) + cell("n", fmt::format("{:.0f} %", 100 * b.share)) +
        cell("t", b.kernel) + cell("", b.proposer) +
        cell("n", b.speedup > 0 ? ratio_text(b.speedup) : "-") +
        cell("", b.state.empty() ? "-"
                                 : fmt::format("{} ({:.0f} % sure)", b.state, 100 * b.confidence)) +
        cell("n", b.headroom > 1 ? ratio_text(b.headroom) : "-") + "</tr>\n";
  return out + "</tbody></table></div>\n</section>\n";
}

std::string contributions(const OptimizeReport& r) {
  if (r.contributions.empty() && r.steering.empty())
    return {};
  std::string out =
      "<section>\n<h2>Who brought it about</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
      "<th>role</th><th>who</th><th class=\"n\">proposed</th><th class=\"n\">right</th>"
      "<th class=\"n\">led</th><th>in the winner</th><th class=\"n\">minutes</th><th>source</th>"
      "<th>commit</th><th>licence</th></tr></thead>\n<tbody>\n";
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (const Contribution& c : r.contributions)
    out += "<tr>" + cell("", c.role) + cell("t", c.who) + cell("n", std::to_string(c.proposed)) +
           cell("n", std::to_string(c.right)) + cell("n", std::to_string(c.kept)) +
           cell(c.in_winner ? "pass" : "", c.in_winner ? "yes" : "no") +
           cell("n", c.minutes > 0 ? fmt::format("{:.0f}", c.minutes) : "-") +
           cell("t", or_dash(c.source)) + cell("i", or_dash(c.commit)) +
           cell("", c.source.empty()    ? "-"
                    : c.licence.empty() ? "not stated"
                                        : c.licence) +
           "</tr>\n";
  out += "</tbody></table></div>\n";
  for (const auto& [who, what] : r.steering)
    out += element("p", "", fmt::format("{}: {}", who, what)) + "\n";
  return out + "</section>\n";
}

std::string cost(const OptimizeReport& r) {
  const ReportCost& c = r.cost;
  std::string out = "<section>\n<h2>Cost</h2>\n<table><tbody>\n";
  const auto row = [&](std::string_view key, const std::string& value) {
    out += "<tr>" + cell("w", key) + cell("n", value) + "</tr>\n";
  };
  row("search", fmt::format("{:.0f} s, {:.0f} s of CPU time", c.search_seconds, c.cpu_seconds));
  row("evaluations", std::to_string(c.evaluations));
  if (c.tokens > 0 || c.cost_usd > 0)
    row("as the proposers say", fmt::format("{:.0f} tokens, {:.2f} USD", c.tokens, c.cost_usd));
  row("all runs of this definition",
      fmt::format("{} runs, {} probes, {:.0f} s of judging, {} promotions", c.all_runs,
                  c.all_probes, c.all_seconds, c.all_promotions));
  if (c.all_promotions > 0)
    row("per promotion",
        fmt::format("{:.0f} probes, {:.0f} s of judging",
                    static_cast<double>(c.all_probes) / static_cast<double>(c.all_promotions),
                    c.all_seconds / static_cast<double>(c.all_promotions)));
  return out + "</tbody></table>\n</section>\n";
}

} // namespace kw::html
