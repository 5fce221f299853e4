// SPDX-License-Identifier: Apache-2.0
// The three drawings of a run. Each tells its whole story to a screen reader in title and
// description, and every mark has a tooltip.
#pragma once

#include "report/optimize_report.hpp"
#include "report/svg.hpp"

namespace kw {

inline constexpr double chart_width = 960;

enum class TrajectoryAxis { seconds, probes };

/// Every probe, and the best so far as a step line. Speed-up against the baseline, logarithmic;
/// failed probes have lanes of their own below.
[[nodiscard]] Svg draw_trajectory(const OptimizeReport& report, TrajectoryAxis axis);

/// One bar per workload from 1x (the baseline) to the champion's speed-up, whiskers for the 95 %
/// interval, diamonds for peers, a dashed mark where the roofline floor would be.
/// At most 60 workloads, those with the largest weight.
[[nodiscard]] Svg draw_workloads(const OptimizeReport& report);

/// Paired ratios round by round, one panel per workload with median and interval. At most 12.
/// `axes` maps uuid to a readable name.
[[nodiscard]] Svg draw_rounds(const std::vector<PairedTiming>& timings,
                              const std::map<std::string, std::string>& axes);

} // namespace kw
