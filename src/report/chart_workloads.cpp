// SPDX-License-Identifier: Apache-2.0
#include "report/charts.hpp"
#include "report/table.hpp"
#include "report/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr double right = 170, top = 66, row_height = 30, bar_height = 14;
constexpr std::size_t max_rows = 60, max_label = 40;
constexpr std::array peer_css = {"peer0", "peer1", "peer2", "peer3"};

double ratio(double baseline_ns, double other_ns) {
  return baseline_ns > 0 && other_ns > 0 ? baseline_ns / other_ns : 0;
}

} // namespace

Svg draw_workloads(const OptimizeReport& report) {
  std::vector<const ReportWorkload*> rows;
  double weights = 0;
  for (const ReportWorkload& w : report.workloads) {
    rows.push_back(&w);
    weights += std::max(w.weight, 0.0);
  }
  if (rows.size() > max_rows) {
    // Equal weights keep their order: the pointers are into one vector.
    std::ranges::sort(rows, [](const ReportWorkload* a, const ReportWorkload* b) {
      const double x = std::isfinite(a->weight) ? a->weight : 0;
      const double y = std::isfinite(b->weight) ? b->weight : 0;
      return x != y ? x > y : a < b;
    });
    rows.resize(max_rows);
  }
  double low = 0.9, high = 1.1;
  const auto include = [&](double value) {
    if (std::isfinite(value) && value > 0) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  };
  for (const ReportWorkload* w : rows) {
    for (const double v : {w->speedup, w->low, w->high, ratio(w->baseline_ns, w->floor_ns)})
      include(v);
    for (const auto& [name, ns] : w->peers_ns)
      include(ratio(w->baseline_ns, ns));
  }
  low = std::max(low / 1.06, 0.02);
  high *= 1.06;

  // As much room for names as they need: weight column, gap, longest name.
  double longest = 60;
  for (const ReportWorkload* w : rows)
    longest = std::max(longest, text_width(shorten(label(*w), max_label), 11.5));
  const double left = longest + 84;
  const double bottom = top + static_cast<double>(rows.size()) * row_height;
  const Scale x{low, high, left, chart_width - right, true};
  Svg svg(
      chart_width, bottom + 12, "Speed-up per workload",
      fmt::format("Champion against baseline {} on {} workloads.", report.baseline, rows.size()));

  for (const double tick : log_ticks(low, high, 6)) {
    svg.line(x.at(tick), top - 6, x.at(tick), bottom, tick == 1 ? "one" : "grid");
    svg.text(x.at(tick), top - 12, fmt::format("{:.4g}x", tick), "small", "middle");
  }
  svg.line(x.at(1), top - 6, x.at(1), bottom, "one");

  double y = top;
  for (const ReportWorkload* w : rows) {
    const double middle = y + row_height / 2;
    const std::string& name = label(*w);
    svg.text(left - 62, middle + 4, shorten(name, max_label), "name small", "end", name);
    svg.text(left - 14, middle + 4, weights > 0 ? share_text(w->weight / weights) : "", "small",
             "end", "share of the weight");
    const double floor = ratio(w->baseline_ns, w->floor_ns);
    if (floor > 1)
      svg.rect(x.at(1), middle - bar_height / 2, x.at(floor) - x.at(1), bar_height, "track", {}, 3);
    if (w->speedup > 0) {
      const bool even = w->low <= 1 && w->high >= 1;
      const double from = std::min(x.at(1), x.at(w->speedup));
      svg.rect(from, middle - bar_height / 2, std::abs(x.at(w->speedup) - x.at(1)), bar_height,
               even              ? "bar-even"
               : w->speedup >= 1 ? "bar"
                                 : "bar-slow",
               fmt::format("{}: {} -> {}, {} {}", name, duration_text(w->baseline_ns),
                           duration_text(w->candidate_ns), ratio_text(w->speedup),
                           interval_text(w->low, w->high)),
               2);
    }
    if (w->low > 0 && w->high > 0) {
      // Twice: a halo in the page colour first, so that it shows on the bar too.
      for (const char* css : {"halo", "whisker"}) {
        svg.line(x.at(w->low), middle, x.at(w->high), middle, css);
        for (const double end : {w->low, w->high})
          svg.line(x.at(end), middle - 5, x.at(end), middle + 5, css);
      }
    }
    if (floor > 0)
      svg.line(x.at(floor), middle - 10, x.at(floor), middle + 10, "bound");
    for (std::size_t p = 0; p < report.peers.size(); ++p)
      if (const auto peer = w->peers_ns.find(report.peers[p]); peer != w->peers_ns.end())
        if (const double r = ratio(w->baseline_ns, peer->second); r > 0)
          svg.diamond(x.at(r), middle, 5.5, peer_css[p % peer_css.size()],
                      fmt::format("{}: {} ({} the baseline)", report.peers[p],
                                  duration_text(peer->second), ratio_text(r)));
    svg.text(chart_width - right + 66, middle + 4, ratio_text(w->speedup), "strong", "end");
    if (w->bound_fraction > 0)
      svg.text(chart_width - 8, middle + 4, share_text(w->bound_fraction) + " of bound", "small",
               "end");
    y += row_height;
  }

  double legend = left;
  const auto entry = [&](const std::string& text, const auto& draw) {
    draw(legend + 6);
    svg.text(legend + 24, 20, shorten(text, 24), "small", "start", text);
    legend += 24 + text_width(shorten(text, 24), 11) + 20;
  };
  entry("champion, 95 % interval", [&](double at) {
    svg.rect(at - 6, 11, 14, 10, "bar", {}, 2);
    svg.line(at + 3, 16, at + 12, 16, "whisker");
  });
  for (std::size_t p = 0; p < report.peers.size(); ++p)
    entry(report.peers[p],
          [&](double at) { svg.diamond(at + 2, 16, 5.5, peer_css[p % peer_css.size()]); });
  entry("roofline bound", [&](double at) { svg.line(at + 2, 8, at + 2, 24, "bound"); });
  svg.text(left - 14, top - 12, "weight", "small", "end");
  return svg;
}

} // namespace kw
