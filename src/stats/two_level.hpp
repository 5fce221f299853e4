// SPDX-License-Identifier: Apache-2.0
// Means over groups of repetitions: operators, and seeds within each. Both were drawn from more
// than were tried, so an interval has to vary both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kw {

/// Ratios, not logarithms. All NaN where there is no group.
struct TwoLevelMean {
  double value = 1;
  double low = 1, high = 1; ///< two-sided interval
  double lower_bound = 1;   ///< one-sided, at the same confidence
  std::size_t groups = 0, members = 0;
};

/// Geometric mean over groups of the geometric mean within each; `log_ratios[g]` holds one
/// logarithm per member. Every group counts the same, however many members it has; empty ones are
/// left out. Percentile bootstrap of two levels (Davison and Hinkley 1997, section 3.8): groups are
/// drawn with replacement, then members within each drawn group. With few groups it is too narrow:
/// of two groups it cannot see more than the two.
TwoLevelMean two_level_mean(std::span<const std::vector<double>> log_ratios, std::uint64_t seed,
                            double confidence = 0.95, int resamples = 10'000);

} // namespace kw
