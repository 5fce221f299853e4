// SPDX-License-Identifier: Apache-2.0
#include "search/strategy.hpp"

#include <algorithm>
#include <cmath>

namespace kw {

const Trial* History::best() const {
  const Trial* best = nullptr;
  for (const Trial& trial : trials)
    if (std::isfinite(trial.observation.rank()) &&
        (best == nullptr || trial.observation.rank() < best->observation.rank()))
      best = &trial;
  return best;
}

std::optional<Config> History::random_new(Random& chance) const {
  constexpr int attempts = 64; // fails once in 10^6 even with 80 % of the space seen
  for (int i = 0; i < attempts; ++i)
    if (Config config = set.random(chance); is_new(config))
      return config;
  std::vector<Config> rest;
  if (!set.listed().empty()) {
    for (const Config& config : set.listed())
      if (is_new(config))
        rest.push_back(config);
    return rest.empty() ? std::nullopt : std::optional(rest[chance.below(rest.size())]);
  }
  std::optional<Config> first;
  set.for_each([&](const Config& config) {
    if (is_new(config))
      first = config;
    return !first.has_value();
  });
  return first;
}

void Strategy::learn(const History& /*history*/, const Trial& /*trial*/, Random& /*chance*/) {}

namespace {
class RandomSearch : public Strategy {
 public:
  std::optional<Config> propose(const History& history, Random& chance) override {
    return history.random_new(chance);
  }
};
} // namespace

std::unique_ptr<Strategy> make_random_search() {
  return std::make_unique<RandomSearch>();
}

} // namespace kw
