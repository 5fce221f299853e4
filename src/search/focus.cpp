// SPDX-License-Identifier: Apache-2.0
#include "search/focus.hpp"

#include "search/parzen.hpp"

#include <algorithm>

namespace kw {
namespace {

constexpr std::size_t most = 4096; // configurations scored; above it a random pool of that size

/// How many settings the freed parameters have together, capped above `most`.
std::size_t settings(const Space& space, const Focus& focus) {
  std::size_t n = 1;
  for (const std::size_t p : focus.freed)
    if (n <= most)
      n *= space.parameters[p].values.size();
  return n;
}

/// The `index`-th setting of the freed parameters.
Config at(const Space& space, const Focus& focus, std::size_t index) {
  Config config = focus.anchor;
  for (const std::size_t p : focus.freed) {
    const std::size_t values = space.parameters[p].values.size();
    config.choice[p] = static_cast<int>(index % values);
    index /= values;
  }
  return config;
}

Config drawn(const Space& space, const Focus& focus, Random& chance) {
  Config config = focus.anchor;
  for (const std::size_t p : focus.freed)
    config.choice[p] = static_cast<int>(chance.below(space.parameters[p].values.size()));
  return config;
}

} // namespace

bool any_within(const History& history, const Focus& focus) {
  const Space& space = history.set.spaces()[focus.anchor.space];
  const std::size_t all = settings(space, focus);
  for (std::size_t i = 0; i < all && all <= most; ++i)
    if (const Config config = at(space, focus, i);
        history.is_new(config) && history.set.legal(config))
      return true;
  return all > most;
}

std::optional<Config> best_within(const History& history, const Focus& focus, Random& chance) {
  const Space& space = history.set.spaces()[focus.anchor.space];
  MostPromising best(history, chance);
  const std::size_t all = settings(space, focus);
  for (std::size_t i = 0; i < std::min(all, most); ++i)
    if (const Config config = all <= most ? at(space, focus, i) : drawn(space, focus, chance);
        history.set.legal(config))
      best.offer(config);
  return best.best();
}

} // namespace kw
