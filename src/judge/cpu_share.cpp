// SPDX-License-Identifier: Apache-2.0
#include "judge/cpu_share.hpp"

#include "stats/robust.hpp"

#include <cstddef>

namespace kw {

bool exceeds_threads(const std::vector<double>& shares, int threads) {
  constexpr std::size_t least_rounds = 6;
  constexpr double clock_resolution = 1.05;
  return shares.size() >= least_rounds && median(shares) > clock_resolution * threads;
}

} // namespace kw
