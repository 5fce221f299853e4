// SPDX-License-Identifier: Apache-2.0
#include "stats/aggregate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kw {
namespace {

/// The smallest value that at least 95 % of all are not above. `values`: value, how many have it.
double p95(std::vector<std::pair<double, double>> values, double n) {
  std::sort(values.begin(), values.end());
  double seen = 0;
  for (const auto& [value, count] : values)
    if ((seen += count) >= 0.95 * n)
      return value;
  return values.back().first;
}

} // namespace

Aggregates aggregate(std::span<const TimePair> pairs) {
  Aggregates out;
  if (pairs.empty())
    return out;
  double n = 0, logs = 0, weighted = 0, weights = 0;
  for (const TimePair& p : pairs)
    n += p.count;
  std::vector<std::pair<double, double>> before, after;
  for (const TimePair& p : pairs) {
    const double ratio = p.baseline / p.candidate;
    out.mean_baseline += p.count * p.baseline / n;
    out.mean_candidate += p.count * p.candidate / n;
    out.mean_of_ratios += p.count * ratio / n;
    logs += p.count * std::log(ratio) / n;
    weighted += p.weight * std::log(ratio);
    weights += p.weight;
    before.emplace_back(p.baseline, p.count);
    after.emplace_back(p.candidate, p.count);
  }
  out.ratio_of_means = out.mean_baseline / out.mean_candidate;
  out.geomean = std::exp(logs);
  out.weighted_geomean = weights > 0 ? std::exp(weighted / weights) : out.geomean;
  out.p95_baseline = p95(std::move(before), n);
  out.p95_candidate = p95(std::move(after), n);
  return out;
}

} // namespace kw
