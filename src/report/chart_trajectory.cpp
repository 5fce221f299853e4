// SPDX-License-Identifier: Apache-2.0
#include "report/charts.hpp"
#include "report/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr double left = 70, right_margin = 30, top_margin = 40, plot_height = 270, lane_height = 20;

bool is_plotted(const ReportProbe& p) {
  return p.speedup && std::isfinite(*p.speedup) && *p.speedup > 0;
}
bool is_kept(const ReportProbe& p) {
  return p.decision == "keep" || p.decision == "promote";
}

std::string tooltip(const ReportProbe& p) {
  std::string out = fmt::format("probe {} at {}: {}", p.index, clock_text(p.seconds), p.decision);
  if (is_plotted(p))
    out += " " + ratio_text(*p.speedup);
  if (!p.hypothesis.empty())
    out += "\n" + p.hypothesis;
  if (!p.reason.empty())
    out += "\n" + p.reason;
  return out;
}

struct Range {
  double low = 1, high = 1;
};

/// Always holds 1x, with a margin; never narrower than a few per cent.
Range speedup_range(const std::vector<ReportProbe>& probes) {
  Range r;
  for (const ReportProbe& p : probes)
    if (is_plotted(p)) {
      r.low = std::min(r.low, *p.speedup);
      r.high = std::max(r.high, *p.speedup);
    }
  // A hopeless candidate at 0.001x would squeeze all others flat: it is drawn at the lower edge.
  r.low = std::max(r.low, 0.2);
  const double margin = std::pow(r.high / r.low, 0.08);
  return {r.low / std::max(margin, 1.02), r.high * std::max(margin, 1.04)};
}

struct Legend {
  Svg& svg;
  double x, y;
  void mark(void (*draw)(Svg&, double, double), std::string_view text) {
    draw(svg, x + 6, y - 4);
    svg.text(x + 18, y, text, "small");
    x += 18 + text_width(text, 11) + 22;
  }
};

} // namespace

Svg draw_trajectory(const OptimizeReport& report, TrajectoryAxis axis) {
  std::vector<std::string> lanes;
  for (const ReportProbe& p : report.probes)
    if (!is_plotted(p) && std::ranges::find(lanes, p.outcome) == lanes.end() && lanes.size() < 6)
      lanes.push_back(p.outcome);
  std::ranges::sort(lanes);

  const bool by_time = axis == TrajectoryAxis::seconds;
  const auto position = [&](const ReportProbe& p) {
    const double at = by_time ? p.seconds : static_cast<double>(p.index);
    return std::isfinite(at) ? std::max(at, 0.0) : 0.0;
  };
  double last = by_time && std::isfinite(report.wall_seconds) ? report.wall_seconds : 0;
  for (const ReportProbe& p : report.probes)
    last = std::max(last, position(p));
  const Range range = speedup_range(report.probes);
  const double bottom = top_margin + plot_height;
  const double lanes_end = bottom + static_cast<double>(lanes.size()) * lane_height;
  const Scale x{0, std::max(last, 1.0), left, chart_width - right_margin};
  const Scale y{range.low, range.high, bottom - 6, top_margin + 6, true};

  const auto plotted = std::ranges::count_if(report.probes, is_plotted);
  Svg svg(chart_width, lanes_end + 46, by_time ? "Speed-up over time" : "Speed-up over probes",
          fmt::format("{} probes, {} of them timed, over {}.", report.probes.size(), plotted,
                      clock_text(report.wall_seconds)));

  for (const double tick : log_ticks(range.low, range.high, 6)) {
    svg.line(left, y.at(tick), chart_width - right_margin, y.at(tick), "grid");
    svg.text(left - 10, y.at(tick) + 4, fmt::format("{:.4g}x", tick), "small", "end");
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const double lane_top = bottom + static_cast<double>(i) * lane_height;
    svg.rect(left, lane_top + 3, chart_width - right_margin - left, lane_height - 4, "lane", {}, 3);
    svg.text(left - 10, lane_top + lane_height / 2 + 5, lanes[i].substr(0, 12), "small", "end");
  }
  svg.line(left, bottom, chart_width - right_margin, bottom, "axis");
  for (const double tick : by_time ? time_ticks(x.high, 8) : nice_ticks(0, x.high, 8)) {
    svg.line(x.at(tick), lanes_end, x.at(tick), lanes_end + 4, "axis");
    svg.text(x.at(tick), lanes_end + 18, by_time ? clock_text(tick) : fmt::format("{:.0f}", tick),
             "small", "middle");
  }
  svg.text((left + chart_width - right_margin) / 2, lanes_end + 38,
           by_time ? "time (min:s)" : "probe", "small", "middle");
  svg.line(left, y.at(1), chart_width - right_margin, y.at(1), "one");
  svg.text(chart_width - right_margin, y.at(1) - 5, "baseline " + report.baseline, "small", "end");

  std::vector<std::pair<double, double>> best = {{x.at(0), y.at(1)}};
  double champion = 1;
  for (const ReportProbe& p : report.probes)
    if (is_plotted(p) && is_kept(p) && *p.speedup > champion) {
      best.emplace_back(x.at(position(p)), y.at(champion));
      champion = *p.speedup;
      best.emplace_back(x.at(position(p)), y.at(champion));
    }
  best.emplace_back(x.at(x.high), y.at(champion));
  svg.polyline(best, "best");

  // Rejected below kept below promoted: what matters is never hidden.
  for (const std::string_view layer : {"reject", "keep", "promote"})
    for (const ReportProbe& p : report.probes) {
      const std::string_view kind = p.decision == "promote" ? "promote"
                                    : p.decision == "keep"  ? "keep"
                                                            : "reject";
      if (kind != layer)
        continue;
      const double px = x.at(position(p));
      if (is_plotted(p)) {
        svg.circle(px, y.at(*p.speedup),
                   kind == "promote" ? 5.5
                   : kind == "keep"  ? 4.5
                                     : 3.2,
                   kind, tooltip(p));
        continue;
      }
      const auto lane = std::ranges::find(lanes, p.outcome);
      if (lane != lanes.end())
        svg.cross(px, bottom + (static_cast<double>(lane - lanes.begin()) + 0.5) * lane_height + 1,
                  3.2, "fail", tooltip(p));
    }

  // The last promotion is always labelled; earlier ones where there is room.
  double free_x = chart_width;
  for (auto p = report.probes.rbegin(); p != report.probes.rend(); ++p) {
    if (!is_plotted(*p) || p->decision != "promote" || x.at(position(*p)) > free_x)
      continue;
    svg.text(x.at(position(*p)) - 8, y.at(*p->speedup) - 8, ratio_text(*p->speedup), "strong",
             "end");
    free_x = x.at(position(*p)) - 60;
  }

  Legend legend{svg, left, 18};
  legend.mark([](Svg& s, double lx, double ly) { s.line(lx - 6, ly, lx + 8, ly, "best"); },
              "best so far");
  legend.mark([](Svg& s, double lx, double ly) { s.circle(lx, ly, 5, "promote"); }, "promoted");
  legend.mark([](Svg& s, double lx, double ly) { s.circle(lx, ly, 4.5, "keep"); }, "kept");
  legend.mark([](Svg& s, double lx, double ly) { s.circle(lx, ly, 3.5, "reject"); }, "rejected");
  if (!lanes.empty())
    legend.mark([](Svg& s, double lx, double ly) { s.cross(lx, ly, 3.5, "fail"); },
                "not timed: failed before");
  return svg;
}

} // namespace kw
