// SPDX-License-Identifier: Apache-2.0
// How many trials a gate asks for, what clean trials prove, and how they are spread over workloads.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kw {

/// Trials of a named gate, per Definition. Mined ones come on top, where the errors of the others
/// came nearest to their bounds.
struct GateSize {
  std::uint64_t trials = 0;
  std::uint64_t mined = 0;
  std::uint64_t mined_strained = 0; ///< at least so many if an error used half of its bound
  std::uint64_t mined_ranked = 0;   ///< at least so many if an output ranks an input
  std::uint64_t hidden_shapes = 0;  ///< shapes that no workload lists, three trials each
  bool each = false;                ///< `trials` for every workload instead of all together
  bool evidence = true;             ///< smoke only guides; it proves nothing worth printing
};
/// "smoke" 5, "gate" 59 (p < 5 % at 95 %), "accept" 299 (p < 1 %), "champion" 459 (p < 1 % at 99 %)
/// plus 64 mined (accept: where an error is strained, and where an input is ranked); "500 each"
/// stands for that many on every workload.
Result<GateSize> gate_size(std::string_view gate);

/// Upper bound of the failure rate after `clean` trials without a failure: 1 - (1-c)^(1/n); 1 for
/// 0.
double failure_rate_bound(std::uint64_t clean, double confidence = 0.95);
/// Clean trials that prove a failure rate below `rate`.
std::uint64_t trials_needed(double rate, double confidence = 0.95);
/// Chance that a kernel that fails with probability `rate` passes `trials` independent trials.
double miss_probability(double rate, std::uint64_t trials);

/// Splits `total` over workloads by weight: at least one each (so the sum may exceed `total` when
/// there are more workloads), largest remainders first, ties by position. Weights that are not
/// positive and finite count as 0. Empty weights give an empty split.
std::vector<std::uint64_t> allocate_trials(std::uint64_t total, std::span<const double> weights);

struct Interval {
  double low = 0, high = 0;
};
/// Exact two-sided interval of a binomial rate (Clopper and Pearson 1934).
Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double confidence = 0.95);
/// Score interval (Wilson 1927): better coverage on average, not a guarantee.
Interval wilson(std::uint64_t successes, std::uint64_t trials, double confidence = 0.95);

/// Inverse of the standard normal distribution function.
double normal_quantile(double p);
/// Regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x);

} // namespace kw
