// SPDX-License-Identifier: Apache-2.0
#include "stats/two_level.hpp"

#include "stats/robust.hpp"
#include "stats/split_mix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kw {

TwoLevelMean two_level_mean(std::span<const std::vector<double>> log_ratios, std::uint64_t seed,
                            double confidence, int resamples) {
  std::vector<const std::vector<double>*> groups;
  TwoLevelMean out;
  for (const std::vector<double>& group : log_ratios)
    if (!group.empty()) {
      groups.push_back(&group);
      out.members += group.size();
    }
  out.groups = groups.size();
  if (groups.empty()) {
    out.value = out.low = out.high = out.lower_bound = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  const auto over_groups = static_cast<double>(groups.size());
  double centre = 0;
  for (const std::vector<double>* group : groups)
    centre += std::accumulate(group->begin(), group->end(), 0.0) /
              static_cast<double>(group->size()) / over_groups;
  SplitMix random{seed};
  std::vector<double> means(static_cast<std::size_t>(std::max(resamples, 1)), 0.0);
  for (double& mean : means)
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::vector<double>& drawn = *groups[random.below(groups.size())];
      double sum = 0;
      for (std::size_t m = 0; m < drawn.size(); ++m)
        sum += drawn[random.below(drawn.size())];
      mean += sum / static_cast<double>(drawn.size()) / over_groups;
    }
  const double tail = 1 - confidence;
  out.value = std::exp(centre);
  out.low = std::exp(quantile(means, tail / 2));
  out.high = std::exp(quantile(means, 1 - tail / 2));
  out.lower_bound = std::exp(quantile(means, tail));
  return out;
}

} // namespace kw
