// SPDX-License-Identifier: Apache-2.0
// Markdown and CSV.
#include "report/escape.hpp"
#include "report/render.hpp"
#include "report/units.hpp"
#include "report/verdict_text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

/// Full precision; an empty field where there is no value.
std::string csv_number(double value) {
  return std::isfinite(value) && value != 0 ? fmt::format("{:.17g}", value) : std::string{};
}

/// A fence longer than any run of backticks inside.
std::string fenced(std::string_view text, std::string_view language) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}\n{}\n", fence, language, terminal_text(text), fence);
}

} // namespace

std::string markdown_report(const OptimizeReport& r) {
  std::string out = fmt::format("# {}\n\n", markdown_text(r.definition));
  const bool confirmed = r.verdict.times && r.verdict.times->speedup > 0;
  if (!r.champion.empty() && !confirmed)
    out += fmt::format("{} was kept, but its speed-up over {} was not confirmed.\n\n",
                       markdown_code(r.champion), markdown_code(r.baseline));
  else if (!r.champion.empty())
    out += fmt::format("**{}** {} against {}, {} ({} workloads).\n\n",
                       ratio_text(r.verdict.times->speedup),
                       markdown_text(interval_text(r.verdict.times->low, r.verdict.times->high)),
                       markdown_code(r.baseline), markdown_code(r.champion), r.workloads.size());
  else
    out += fmt::format("Nothing beat {}.\n\n", markdown_code(r.baseline));
  out += fmt::format("- {}\n", markdown_text(probe_counts(r)));
  if (const std::string evidence = evidence_sentence(r.verdict); !evidence.empty())
    out += fmt::format("- {}\n", markdown_text(evidence));
  if (const double bound = bound_fraction(r); bound > 0)
    out += fmt::format("- {} of the roofline bound\n", share_text(bound));
  if (!r.replay_command.empty())
    out += fmt::format("- replay: {}\n", markdown_code(r.replay_command));

  out += "\n| workload | baseline | champion | speed-up | 95 % | of bound |";
  std::string rule = "\n|---|--:|--:|--:|---|--:|";
  for (const std::string& peer : r.peers) {
    out += fmt::format(" vs {} |", markdown_text(peer));
    rule += "--:|";
  }
  out += rule + "\n";
  for (const ReportWorkload& w : r.workloads) {
    out += fmt::format("| {} | {} | {} | {} | {} | {} |", markdown_text(label(w)),
                       duration_text(w.baseline_ns), duration_text(w.candidate_ns),
                       ratio_text(w.speedup), markdown_text(interval_text(w.low, w.high)),
                       w.bound_fraction > 0 ? share_text(w.bound_fraction) : "-");
    for (const std::string& peer : r.peers) {
      const auto ns = w.peers_ns.find(peer);
      out += fmt::format(" {} |", ns == w.peers_ns.end() || w.candidate_ns <= 0
                                      ? "-"
                                      : ratio_text(ns->second / w.candidate_ns));
    }
    out += "\n";
  }
  out += "\n## Verdict\n\n" +
         fenced(render_verdict(r.verdict, r.champion.empty() ? "" : r.champion), "text");
  out += "\n## Environment\n\n";
  for (const auto& [key, value] : r.environment)
    out += fmt::format("- {}: {}\n", markdown_text(key), markdown_code(value));
  if (!r.seed_commitment.empty())
    out += fmt::format("- seed commitment: {}\n", markdown_code(r.seed_commitment));
  return out;
}

std::string workloads_csv(const OptimizeReport& r) {
  std::string out = "uuid,axes,weight,baseline_ns,candidate_ns,speedup,low,high,floor_ns,"
                    "bound_fraction";
  for (const std::string& peer : r.peers)
    out += "," + csv_text(peer + "_ns");
  out += "\r\n";
  for (const ReportWorkload& w : r.workloads) {
    out += csv_text(w.uuid) + "," + csv_text(w.axes);
    for (const double value : {w.weight, w.baseline_ns, w.candidate_ns, w.speedup, w.low, w.high,
                               w.floor_ns, w.bound_fraction})
      out += "," + csv_number(value);
    for (const std::string& peer : r.peers) {
      const auto ns = w.peers_ns.find(peer);
      out += "," + (ns == w.peers_ns.end() ? std::string{} : csv_number(ns->second));
    }
    out += "\r\n";
  }
  return out;
}

std::string probes_csv(const OptimizeReport& r) {
  std::string out = "index,seconds,id,outcome,finding,decision,speedup,hypothesis,reason\r\n";
  for (const ReportProbe& p : r.probes)
    out += fmt::format("{},{:.3f},{},{},{},{},{},{},{}\r\n", p.index, p.seconds, csv_text(p.id),
                       csv_text(p.outcome), csv_text(p.finding), csv_text(p.decision),
                       p.speedup ? csv_number(*p.speedup) : "", csv_text(p.hypothesis),
                       csv_text(p.reason));
  return out;
}

} // namespace kw
