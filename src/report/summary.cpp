// SPDX-License-Identifier: Apache-2.0
// Figures that every form of the report shares, and the closing table on the terminal.
#include "report/render.hpp"
#include "report/table.hpp"
#include "report/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {

std::string probe_counts(const OptimizeReport& report) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const ReportProbe& p : report.probes) {
    const auto found =
        std::ranges::find(counts, p.outcome, &std::pair<std::string, std::size_t>::first);
    if (found != counts.end())
      ++found->second;
    else
      counts.emplace_back(p.outcome, 1);
  }
  std::ranges::sort(counts, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::string out = fmt::format("{} {}", count_text(report.probes.size()),
                                report.probes.size() == 1 ? "probe" : "probes");
  for (std::size_t i = 0; i < counts.size(); ++i)
    out += fmt::format("{}{} {}", i == 0 ? ": " : " · ", count_text(counts[i].second),
                       counts[i].first);
  return out;
}

double bound_fraction(const OptimizeReport& report) {
  double sum = 0, weights = 0;
  for (const ReportWorkload& w : report.workloads)
    if (w.bound_fraction > 0 && w.weight > 0) {
      sum += w.weight * std::log(w.bound_fraction);
      weights += w.weight;
    }
  return weights > 0 ? std::exp(sum / weights) : 0;
}

std::string workloads_table(const OptimizeReport& report, bool colour) {
  std::vector<Column> columns = {{"workload", Align::left, 40}, {"weight", Align::right},
                                 {"baseline", Align::right},    {"champion", Align::right},
                                 {"speed-up", Align::right},    {"95 %", Align::left},
                                 {"of bound", Align::right}};
  for (const std::string& peer : report.peers)
    columns.push_back({"vs " + peer, Align::right, 16});
  double weights = 0;
  for (const ReportWorkload& w : report.workloads)
    weights += std::max(w.weight, 0.0);
  Table table(std::move(columns));
  for (const ReportWorkload& w : report.workloads) {
    const Colour tint = w.low > 1                  ? Colour::good
                        : w.high > 0 && w.high < 1 ? Colour::bad
                                                   : Colour::none;
    std::vector<Table::Cell> cells = {label(w),
                                      weights > 0 ? share_text(w.weight / weights) : "-",
                                      duration_text(w.baseline_ns),
                                      duration_text(w.candidate_ns),
                                      {ratio_text(w.speedup), tint},
                                      interval_text(w.low, w.high),
                                      w.bound_fraction > 0 ? share_text(w.bound_fraction) : "-"};
    for (const std::string& peer : report.peers) {
      const auto ns = w.peers_ns.find(peer);
      cells.emplace_back(ns == w.peers_ns.end() || w.candidate_ns <= 0
                             ? "-"
                             : ratio_text(ns->second / w.candidate_ns));
    }
    table.row(std::move(cells));
  }
  return table.text(colour);
}

Aggregates aggregates(const OptimizeReport& report) {
  std::vector<TimePair> pairs;
  for (const ReportWorkload& w : report.workloads)
    if (w.baseline_ns > 0 && w.candidate_ns > 0)
      pairs.push_back({.baseline = w.baseline_ns,
                       .candidate = w.candidate_ns,
                       .weight = w.weight,
                       .count = static_cast<double>(w.count)});
  return aggregate(pairs);
}

std::string aggregates_text(const OptimizeReport& report) {
  const Aggregates a = aggregates(report);
  if (a.geomean == 0)
    return {};
  return fmt::format(
      "median times   weighted geomean {}, geomean {}, mean of ratios {}, ratio of "
      "means {}\n"
      "latency        mean {} -> {}, p95 {} -> {}. No official score; what is claimed "
      "is the paired figure below\n",
      ratio_text(a.weighted_geomean), ratio_text(a.geomean), ratio_text(a.mean_of_ratios),
      ratio_text(a.ratio_of_means), duration_text(a.mean_baseline), duration_text(a.mean_candidate),
      duration_text(a.p95_baseline), duration_text(a.p95_candidate));
}

} // namespace kw
