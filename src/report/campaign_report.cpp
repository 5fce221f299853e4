// SPDX-License-Identifier: Apache-2.0
#include "report/campaign_report.hpp"

#include "report/escape.hpp"
#include "report/table.hpp"
#include "report/units.hpp"

#include <fmt/format.h>
#include <map>

namespace kw {
namespace {

std::string or_dash(double value, const std::string& text) {
  return value > 0 ? text : "-";
}

std::string speedup_text(const CampaignRow& row) {
  return or_dash(row.speedup,
                 fmt::format("{} {}", ratio_text(row.speedup), interval_text(row.low, row.high)));
}

std::string replay_text(const CampaignRow& row) {
  return row.replayed == 0 ? "-" : fmt::format("{} of {} wrong", row.replay_failures, row.replayed);
}

std::string details(const CampaignRow& row) {
  std::string out = fmt::format("\n## {}\n\n{}: {}\n", markdown_code(row.definition),
                                markdown_text(row.state), markdown_text(row.reason));
  if (row.per_workload.empty())
    return out;
  const Aggregates& a = row.aggregates;
  out += fmt::format(
      "\nRatio of means {}, mean of ratios {}, geometric mean {}; mean latency {} -> {}, 95th "
      "percentile over workloads {} -> {}. {} trials, replay: {}.\n\n",
      ratio_text(a.ratio_of_means), ratio_text(a.mean_of_ratios), ratio_text(a.geomean),
      duration_text(a.mean_baseline), duration_text(a.mean_candidate),
      duration_text(a.p95_baseline), duration_text(a.p95_candidate), row.trials, replay_text(row));
  out += "| workload | rounds | median | p95 | min | max | over plain baseline | of the bound | "
         "over fastest peer |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const CampaignWorkload& w : row.per_workload)
    out += fmt::format("| {}{} | {} | {} | {} | {} | {} | {} {} | {} | {} |\n",
                       markdown_text(w.axes), w.count > 1 ? fmt::format(" (x{})", w.count) : "",
                       w.rounds, duration_text(w.median), duration_text(w.p95),
                       duration_text(w.min), duration_text(w.max), ratio_text(w.speedup),
                       markdown_text(interval_text(w.low, w.high)),
                       or_dash(w.bound_fraction, share_text(w.bound_fraction)),
                       or_dash(w.over_peer, fmt::format("{} ({})", ratio_text(w.over_peer),
                                                        markdown_text(w.peer))));
  return out;
}

} // namespace

double campaign_score(const CampaignReport& report) {
  std::map<std::string, std::pair<double, int>> tracks;
  for (const CampaignRow& row : report.rows) {
    tracks[row.track].first += row.score;
    ++tracks[row.track].second;
  }
  double sum = 0;
  for (const auto& [track, total] : tracks)
    sum += total.first / total.second;
  return tracks.empty() ? 0 : sum / static_cast<double>(tracks.size());
}

std::string campaign_table(const CampaignReport& report, bool colour) {
  Table table({{"track", Align::left},
               {"definition", Align::left},
               {"outcome", Align::left},
               {"over plain baseline", Align::right},
               {"over fastest peer", Align::right},
               {"of the bound", Align::right},
               {"replay", Align::right},
               {"S", Align::right}});
  for (const CampaignRow& row : report.rows)
    table.row({row.track, terminal_text(row.definition), row.state, speedup_text(row),
               or_dash(row.over_peers, ratio_text(row.over_peers)),
               or_dash(row.bound_fraction, share_text(row.bound_fraction)), replay_text(row),
               fmt::format("{:.3f}", row.score)});
  return table.text(colour) +
         fmt::format("score in the contest's form (mean over definitions of a track, then over "
                     "tracks; missing = 0), against our plain baselines, no official score: "
                     "{:.3f}\n",
                     campaign_score(report));
}

std::string campaign_markdown(const CampaignReport& report) {
  std::string out =
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Results: " + markdown_text(report.name) +
      "\n";
  out +=
      fmt::format("{}\n\n{}, {}, {}, Kernwright {}. Made by `{}`. Every figure comes from the "
                  "confirmation in fresh processes. Objective: {}.\n\n",
                  markdown_text(report.description), markdown_text(report.date),
                  markdown_text(report.machine), markdown_text(report.compiler),
                  markdown_text(report.version), report.command, markdown_text(report.objective));
  out += "| track | definition | outcome | over fastest peer | of the bound | over plain baseline "
         "(diagnostic) | replay | S |\n|---|---|---|---|---|---|---|---|\n";
  for (const CampaignRow& row : report.rows)
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:.3f} |\n", markdown_text(row.track),
                       markdown_code(row.definition), markdown_text(row.state),
                       or_dash(row.over_peers, ratio_text(row.over_peers)),
                       or_dash(row.bound_fraction, share_text(row.bound_fraction)),
                       markdown_text(speedup_text(row)), replay_text(row), row.score);
  out += fmt::format(
      "\nS has the form of the contest's score: (all workloads correct) x mean(baseline / "
      "latency), "
      "a missing definition 0; mean over tracks {:.3f}. The baseline is our plain C++, not the "
      "contest's: no official score.\n",
      campaign_score(report));
  for (const CampaignRow& row : report.rows)
    out += details(row);
  return out;
}

} // namespace kw
