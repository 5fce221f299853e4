// SPDX-License-Identifier: Apache-2.0
// Two densities over configurations, one of the good trials and one of the others; their ratio says
// where to look (Bergstra et al. 2011, "Algorithms for hyper-parameter optimization").
#pragma once

#include "search/strategy.hpp"

#include <vector>

namespace kw {

struct ParzenSettings {
  double good_share = 0.15;   ///< this share of the trials, best first, counts as good
  std::size_t good_least = 3; ///< but at least so many
  double prior = 0.5;         ///< pseudo-observations per value, good side and bad side alike
  double spill = 0.5;         ///< weight an ordered value lends to its neighbours, per step
  int reach = 2;
};

class ParzenEstimator {
 public:
  ParzenEstimator(const History& history, const ParzenSettings& settings);
  /// log (good density / bad density): higher is more promising.
  [[nodiscard]] double score(const Config& config) const;

 private:
  /// [space][parameter][value] -> log ratio; and one for the choice of space.
  std::vector<std::vector<std::vector<double>>> value_;
  std::vector<double> space_;
};

/// The new configuration with the highest score of those offered; ties are broken by chance.
class MostPromising {
 public:
  MostPromising(const History& history, Random& chance)
      : history_(history), estimate_(history, {}), chance_(chance) {}
  void offer(const Config& config);
  [[nodiscard]] const std::optional<Config>& best() const { return best_; }

 private:
  const History& history_;
  ParzenEstimator estimate_;
  Random& chance_;
  std::optional<Config> best_;
  double score_ = 0;
  std::size_t ties_ = 0;
};

} // namespace kw
