// SPDX-License-Identifier: Apache-2.0
// One figure for many workloads. They disagree: a ratio of means follows the slowest workloads, a
// mean of ratios those with the largest ratio, so a report names which one it shows.
#pragma once

#include <span>

namespace kw {

/// Times of one workload in any common unit, both positive.
struct TimePair {
  double baseline = 0, candidate = 0;
  double weight = 1; ///< of all that it stands for together
  double count = 1;  ///< workloads that it stands for: equal ones are timed once
};

struct Aggregates {
  double mean_baseline = 0, mean_candidate = 0; ///< arithmetic means of the times
  double ratio_of_means = 0;                    ///< mean_baseline / mean_candidate
  double mean_of_ratios = 0;                    ///< mean of baseline / candidate
  double geomean = 0, weighted_geomean = 0;     ///< of baseline / candidate
  double p95_baseline = 0, p95_candidate = 0;   ///< nearest rank
};

/// All zero where there is no pair. Weights that sum to zero count as equal.
[[nodiscard]] Aggregates aggregate(std::span<const TimePair> pairs);

} // namespace kw
