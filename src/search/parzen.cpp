// SPDX-License-Identifier: Apache-2.0
#include "search/parzen.hpp"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

/// log((good + prior) / (all good + prior * n)) - the same of bad, per value.
std::vector<double> log_ratio(const std::vector<double>& good, const std::vector<double>& bad,
                              double prior) {
  double good_sum = 0, bad_sum = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    good_sum += good[i] + prior;
    bad_sum += bad[i] + prior;
  }
  std::vector<double> ratio(good.size());
  for (std::size_t i = 0; i < good.size(); ++i)
    ratio[i] = std::log((good[i] + prior) / good_sum) - std::log((bad[i] + prior) / bad_sum);
  return ratio;
}

} // namespace

ParzenEstimator::ParzenEstimator(const History& history, const ParzenSettings& settings) {
  std::vector<const Trial*> sorted;
  for (const Trial& trial : history.trials)
    sorted.push_back(&trial);
  // Among equals the earlier trial is the better one, so that replays agree.
  std::sort(sorted.begin(), sorted.end(), [](const Trial* a, const Trial* b) {
    const double left = a->observation.rank(), right = b->observation.rank();
    return left != right ? left < right : a < b;
  });
  std::size_t good_count =
      std::max(settings.good_least, static_cast<std::size_t>(std::ceil(
                                        settings.good_share * static_cast<double>(sorted.size()))));
  while (good_count > 0 &&
         (good_count > sorted.size() || !std::isfinite(sorted[good_count - 1]->observation.rank())))
    --good_count;

  const std::vector<Space>& spaces = history.set.spaces();
  std::vector<double> space_good(spaces.size()), space_bad(spaces.size());
  value_.resize(spaces.size());
  for (std::size_t s = 0; s < spaces.size(); ++s)
    for (std::size_t p = 0; p < spaces[s].parameters.size(); ++p) {
      const Parameter& parameter = spaces[s].parameters[p];
      const int n = static_cast<int>(parameter.values.size());
      std::vector<double> good(parameter.values.size()), bad(parameter.values.size());
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i]->config.space != s)
          continue;
        std::vector<double>& side = i < good_count ? good : bad;
        const int at = sorted[i]->config.choice[p];
        const int reach = parameter.ordered ? settings.reach : 0;
        double total = 0;
        for (int v = std::max(0, at - reach); v <= std::min(n - 1, at + reach); ++v)
          total += std::pow(settings.spill, std::abs(v - at));
        for (int v = std::max(0, at - reach); v <= std::min(n - 1, at + reach); ++v)
          side[static_cast<std::size_t>(v)] += std::pow(settings.spill, std::abs(v - at)) / total;
      }
      value_[s].push_back(log_ratio(good, bad, settings.prior));
    }
  for (std::size_t i = 0; i < sorted.size(); ++i)
    (i < good_count ? space_good : space_bad)[sorted[i]->config.space] += 1;
  space_ = log_ratio(space_good, space_bad, settings.prior);
}

double ParzenEstimator::score(const Config& config) const {
  double sum = space_[config.space];
  for (std::size_t p = 0; p < config.choice.size(); ++p)
    sum += value_[config.space][p][static_cast<std::size_t>(config.choice[p])];
  return sum;
}

void MostPromising::offer(const Config& config) {
  if (!history_.is_new(config))
    return;
  const double score = estimate_.score(config);
  if (best_ && score < score_)
    return;
  ties_ = best_ && score == score_ ? ties_ + 1 : 1;
  if (chance_.below(ties_) == 0)
    best_ = config;
  score_ = score;
}

} // namespace kw
