// SPDX-License-Identifier: Apache-2.0
#include "search/hill_climb.hpp"

#include <algorithm>
#include <cmath>

namespace kw {

std::optional<Config> HillClimb::propose(const History& history, Random& chance) {
  for (;;) {
    if (!here_) {
      start_ = history.random_new(chance);
      return start_;
    }
    while (!queue_.empty()) {
      Config next = std::move(queue_.back());
      queue_.pop_back();
      if (history.is_new(next))
        return next;
    }
    here_.reset();
  }
}

void HillClimb::climb_from(const History& history, const Config& config, double cost,
                           Random& chance) {
  here_ = config;
  cost_ = cost;
  // Known neighbours cost nothing: walk over them before asking for new ones.
  for (bool moved = true; moved;) {
    moved = false;
    for (const Config& next : history.set.neighbours(*here_)) {
      const auto known = history.asked.find(next);
      if (known != history.asked.end() && known->second && *known->second < cost_) {
        here_ = next;
        cost_ = *known->second;
        moved = true;
      }
    }
  }
  queue_ = history.set.neighbours(*here_);
  order(history, queue_, chance);
  std::reverse(queue_.begin(), queue_.end());
}

void HillClimb::order(const History& /*history*/, std::vector<Config>& neighbours,
                      Random& chance) {
  chance.shuffle(neighbours);
}

void HillClimb::learn(const History& history, const Trial& trial, Random& chance) {
  const double rank = trial.observation.rank();
  if (!std::isfinite(rank))
    return;
  if ((!here_ && start_ == trial.config) || (here_ && rank < cost_))
    climb_from(history, trial.config, rank, chance);
}

std::unique_ptr<Strategy> make_hill_climb() { return std::make_unique<HillClimb>(); }

} // namespace kw
