// SPDX-License-Identifier: Apache-2.0
#include "report/charts.hpp"
#include "report/table.hpp"
#include "report/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr double panel_width = 320, panel_height = 190;
constexpr std::size_t columns = 3, max_panels = 12;
// The least gain that counts (the e-gate's default); drawn for orientation.
constexpr double minimum_effect = 1.02;

void panel(Svg& svg, const PairedTiming& t, const std::string& name, double px, double py) {
  const double left = px + 48, right = px + panel_width - 12;
  const double top = py + 38, bottom = py + panel_height - 22;
  double low = 1e300, high = 0;
  std::vector<double> ratios;
  for (const double edge : {t.low, t.high})
    if (std::isfinite(edge) && edge > 0) {
      low = std::min(low, edge);
      high = std::max(high, edge);
    }
  for (const double d : t.log_ratios)
    if (const double r = std::exp(d); std::isfinite(r) && r > 0) {
      ratios.push_back(r);
      low = std::min(low, r);
      high = std::max(high, r);
    }
  // The spread is what the panel is for: 1x is drawn where it does not squeeze the points flat.
  const bool near_one = high == 0 || (low < 1.25 && high > 0.8);
  if (near_one) {
    low = std::min(low, 0.99);
    high = std::max(high, minimum_effect * 1.005);
  }
  low = std::max(low / 1.01, high * 1e-3);
  high *= 1.01;
  const Scale x{0, static_cast<double>(std::max<std::size_t>(ratios.size(), 1)) + 1, left, right};
  const Scale y{low, high, bottom, top, true};

  const std::string heading = fmt::format("{} vs {}", name, t.baseline);
  svg.text(px + 8, py + 16, shorten(heading, 46), "name small", "start", heading);
  svg.text(px + 8, py + 31,
           fmt::format("{} {}  {}{} rounds", ratio_text(t.speedup), interval_text(t.low, t.high),
                       t.decision.empty() ? "" : t.decision + ", ", ratios.size()),
           "small");
  if (t.low > 0 && t.high > 0)
    svg.rect(left, y.at(t.high), right - left, y.at(t.low) - y.at(t.high), "band");
  for (const double tick : log_ticks(low, high, 4)) {
    svg.line(left, y.at(tick), right, y.at(tick), "grid");
    svg.text(left - 6, y.at(tick) + 4, fmt::format("{:.4g}x", tick), "small", "end");
  }
  if (near_one) {
    svg.line(left, y.at(1), right, y.at(1), "one");
    svg.line(left, y.at(minimum_effect), right, y.at(minimum_effect), "effect");
  }
  if (t.speedup > 0)
    svg.line(left, y.at(t.speedup), right, y.at(t.speedup), "median");
  for (std::size_t i = 0; i < ratios.size(); ++i)
    svg.circle(x.at(static_cast<double>(i) + 1), y.at(ratios[i]), 2.4, "round",
               fmt::format("round {}: {:.4f}x", i + 1, ratios[i]));
  svg.text(left, bottom + 15, "round 1", "small");
  svg.text(right, bottom + 15, fmt::format("{}", ratios.size()), "small", "end");
}

} // namespace

Svg draw_rounds(const std::vector<PairedTiming>& timings,
                const std::map<std::string, std::string>& axes) {
  const std::size_t shown = std::min(timings.size(), max_panels);
  const std::size_t rows = (shown + columns - 1) / columns;
  Svg svg(chart_width, std::max(1.0, static_cast<double>(rows)) * panel_height,
          "Paired ratios, round by round",
          fmt::format("Baseline time over candidate time of the same round, {} workloads; dashed "
                      "line: the least gain that counts.",
                      shown));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto found = axes.find(timings[i].uuid);
    panel(svg, timings[i], found != axes.end() ? found->second : timings[i].uuid,
          static_cast<double>(i % columns) * panel_width,
          static_cast<double>(i / columns) * panel_height);
  }
  return svg;
}

} // namespace kw
