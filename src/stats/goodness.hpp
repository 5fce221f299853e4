// SPDX-License-Identifier: Apache-2.0
// Whether counts are as often as they should be.
#pragma once

#include <cstdint>
#include <span>

namespace kw {

struct GTest {
  double g = 0;
  double dof = 0; ///< 0: too few counts for an answer
  double p = 1;   ///< chance of counts at least as far off
};

/// Counts against shares (positive, of sum 1): G = 2 sum O ln(O / E), which is nearly chi-square
/// distributed where every E is at least 5 (Sokal and Rohlf, Biometry, chapter 17); below that no
/// answer. With the correction of Williams (1976).
GTest g_test(std::span<const std::uint64_t> counts, std::span<const double> shares);

/// Upper tail of the chi-square distribution: Q(dof / 2, x / 2), DLMF 8.2.4.
double chi_square_tail(double x, double dof);

/// Bound on the chance that independent events of expected number `mean` happen `count` times or
/// more: exp(count - mean) (mean / count)^count (Chernoff 1952; Hoeffding 1956 for unequal
/// chances). 1 where count <= mean.
double at_least_bound(double count, double mean);

} // namespace kw
