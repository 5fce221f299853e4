// SPDX-License-Identifier: Apache-2.0
#include "controller/bottleneck.hpp"

#include "stats/robust.hpp"

#include <array>
#include <fmt/format.h>

namespace kw {

std::vector<ProfileFigure> cache_cliffs(const std::vector<SweepPoint>& sweep) {
  constexpr std::array levels = {"L1", "L2", "L3", "DRAM"};
  std::vector<ProfileFigure> out;
  double within = 0;
  for (const char* level : levels) {
    std::vector<double> costs;
    double confidence = 1;
    for (const SweepPoint& point : sweep)
      if (point.level == level && point.ns >= bottleneck::short_call_ns) {
        costs.push_back(point.ns_per_byte);
        confidence = std::min(confidence, point.confidence);
      }
    if (costs.empty())
      continue;
    const double beyond = median(costs);
    if (within > 0 && beyond >= bottleneck::cache_cliff * within)
      out.push_back({.name = fmt::format("cliff_{}", level),
                     .value = beyond / within,
                     .unit = "x per byte",
                     .source = "size sweep",
                     .confidence = confidence});
    within = beyond;
  }
  return out;
}

} // namespace kw
