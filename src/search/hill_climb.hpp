// SPDX-License-Identifier: Apache-2.0
// First-improvement hill climbing over Hamming-1 neighbours in random order; restarts at random
// where nothing improves.
#pragma once

#include "search/strategy.hpp"

#include <optional>
#include <vector>

namespace kw {

class HillClimb : public Strategy {
 public:
  std::optional<Config> propose(const History& history, Random& chance) override;
  /// Moves to a better configuration whoever proposed it.
  void learn(const History& history, const Trial& trial, Random& chance) override;

  /// Makes `config` (known to cost `cost`) the point to climb from.
  void climb_from(const History& history, const Config& config, double cost, Random& chance);
  /// False where the next proposal would be a restart. Leaves a local optimum.
  bool climbing(const History& history);

 private:
  std::optional<Config> start_; ///< restart point whose result is awaited
  std::optional<Config> here_;
  double cost_ = 0;
  std::vector<Config> queue_; ///< neighbours of `here_` to try, next one last
};

} // namespace kw
