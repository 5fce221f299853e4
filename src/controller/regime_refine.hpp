// SPDX-License-Identifier: Apache-2.0
// Regimes from measured latencies: what takes most of the time is a regime of its own, and so is
// each side of a point where the time per unit of work changes. Pure.
#pragma once

#include "controller/regime.hpp"

#include <string>
#include <vector>

namespace kw {

namespace refinement {
/// A value of the axis with this share of all latency is searched on its own (arXiv 2607.17979).
inline constexpr double dominant_share = 1.0 / 3;
/// Time per unit of work has to change by this factor, and two levels instead of one have to
/// explain this part of its variation, for a change point.
inline constexpr double change = 1.5, explained = 0.75;
/// Levels needed on each side of it.
inline constexpr std::size_t least_levels = 2;
/// An axis orders the calls of an operator with several if latency grows with it like this.
inline constexpr double least_rank_correlation = 0.9;
inline constexpr std::size_t most_regimes = 6;
} // namespace refinement

/// `ns`: of the baseline, per workload; 0 = unknown or a twin. Regimes that border on each other
/// along one axis are split further along it; a single regime without an axis along the one that
/// latency follows, if there is one. Names, conditions and weights are right afterwards;
/// representatives are to be chosen anew.
[[nodiscard]] std::vector<Regime> refine_regimes(std::vector<Regime> regimes,
                                                 const std::vector<BoundWorkload>& workloads,
                                                 const std::vector<double>& ns);

/// The variable axis that latency follows most closely, "" if none does.
[[nodiscard]] std::string leading_axis(const std::vector<BoundWorkload>& workloads,
                                       const std::vector<double>& ns);

} // namespace kw
