// SPDX-License-Identifier: Apache-2.0
// Estimators that a few wild samples cannot move. Empty samples give NaN.
#pragma once

#include "stats/trials.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kw {

double median(std::span<const double> x);
/// Linear interpolation between order statistics: x_(1 + q (n - 1)).
double quantile(std::span<const double> x, double q);
/// 1.4826 times the median absolute deviation: the standard deviation, were the sample normal.
double mad_sigma(std::span<const double> x);

/// Interval of the median by order statistics, valid for any continuous distribution (sign test).
struct MedianInterval {
  double median = 0, low = 0, high = 0;
  std::uint64_t low_rank = 0, high_rank = 0; ///< 1-based order statistics
  double coverage = 0; ///< exact; below the wish where n is too small (n < 6 for 95 %)
};
MedianInterval median_interval(std::span<const double> x, double confidence = 0.95);

/// Geometric mean over workloads of the median ratio within each, with a bootstrap interval.
/// `log_ratios[w]` holds one paired log ratio per round. Resampling draws whole rounds within a
/// workload, so the pairing stays; workloads are fixed, they are the task. Weights as in
/// allocate_trials; empty = equal. Workloads without a round are left out.
struct GeometricMean {
  double value = 1, low = 1, high = 1; ///< ratios, not logarithms
};
GeometricMean geometric_mean(std::span<const std::vector<double>> log_ratios,
                             std::span<const double> weights, std::uint64_t seed,
                             double confidence = 0.95, int resamples = 10'000);
/// exp of the mean logarithm; NaN when empty or when a value is not positive.
double geometric_mean(std::span<const double> values);

/// Spearman's rank correlation with average ranks for ties; 0 where one side is constant.
double spearman(std::span<const double> x, std::span<const double> y);
/// Two-sided p value of that correlation for n pairs by Student's t (good from n = 10).
double spearman_p_value(double rho, std::uint64_t n);

} // namespace kw
