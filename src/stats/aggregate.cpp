// SPDX-License-Identifier: Apache-2.0
#include "stats/aggregate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace kw {
namespace {

/// The smallest value that at least 95 % of all are not above.
double p95(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(values.size())));
  return values[rank - 1];
}

} // namespace

Aggregates aggregate(std::span<const TimePair> pairs) {
  Aggregates out;
  if (pairs.empty())
    return out;
  const auto n = static_cast<double>(pairs.size());
  double logs = 0, weighted = 0, weights = 0;
  std::vector<double> before, after;
  for (const TimePair& p : pairs) {
    const double ratio = p.baseline / p.candidate;
    out.mean_baseline += p.baseline / n;
    out.mean_candidate += p.candidate / n;
    out.mean_of_ratios += ratio / n;
    logs += std::log(ratio) / n;
    weighted += p.weight * std::log(ratio);
    weights += p.weight;
    before.push_back(p.baseline);
    after.push_back(p.candidate);
  }
  out.ratio_of_means = out.mean_baseline / out.mean_candidate;
  out.geomean = std::exp(logs);
  out.weighted_geomean = weights > 0 ? std::exp(weighted / weights) : out.geomean;
  out.p95_baseline = p95(std::move(before));
  out.p95_candidate = p95(std::move(after));
  return out;
}

} // namespace kw
