// SPDX-License-Identifier: Apache-2.0
// First-improvement hill climbing over Hamming-1 neighbours; restarts where nothing improves.
#pragma once

#include "search/strategy.hpp"

#include <optional>
#include <vector>

namespace kw {

class HillClimb : public Strategy {
 public:
  std::optional<Config> propose(const History& history, Random& chance) override;
  void learn(const History& history, const Trial& trial, Random& chance) override;
  /// Makes `config` (known to cost `cost`) the point to climb from.
  void climb_from(const History& history, const Config& config, double cost, Random& chance);

 protected:
  virtual void order(const History& history, std::vector<Config>& neighbours, Random& chance);

 private:
  std::optional<Config> start_; ///< restart point whose result is awaited
  std::optional<Config> here_;
  double cost_ = 0;
  std::vector<Config> queue_; ///< neighbours of `here_` to try, next one last
};

} // namespace kw
