// SPDX-License-Identifier: Apache-2.0
#include "search/hill_climb.hpp"

#include <cmath>

namespace kw {

bool HillClimb::climbing(const History& history) {
  while (!queue_.empty() && !history.is_new(queue_.back()))
    queue_.pop_back();
  if (queue_.empty())
    here_.reset();
  return here_.has_value();
}

std::optional<Config> HillClimb::propose(const History& history, Random& chance) {
  if (climbing(history)) {
    Config next = std::move(queue_.back());
    queue_.pop_back();
    return next;
  }
  start_ = history.random_new(chance);
  return start_;
}

void HillClimb::climb_from(const History& history, const Config& config, double cost,
                           Random& chance) {
  here_ = config;
  cost_ = cost;
  // Known neighbours cost nothing: walk over them before asking for new ones.
  for (bool moved = true; moved;) {
    moved = false;
    for (Config& next : history.set.neighbours(*here_)) {
      const auto known = history.asked.find(next);
      if (known != history.asked.end() && known->second && *known->second < cost_) {
        cost_ = *known->second;
        here_ = std::move(next);
        moved = true;
      }
    }
  }
  queue_ = history.set.neighbours(*here_);
  chance.shuffle(queue_);
}

void HillClimb::learn(const History& history, const Trial& trial, Random& chance) {
  const double rank = trial.observation.rank();
  if (std::isfinite(rank) && (here_ ? rank < cost_ : start_ == trial.config))
    climb_from(history, trial.config, rank, chance);
}

std::unique_ptr<Strategy> make_hill_climb() {
  return std::make_unique<HillClimb>();
}

} // namespace kw
