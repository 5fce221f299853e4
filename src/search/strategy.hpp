// SPDX-License-Identifier: Apache-2.0
// One way to choose the next configuration. The Tuner around it keeps the history, the seeds and
// the promise that nothing is proposed twice.
#pragma once

#include "search/observation.hpp"
#include "search/space_set.hpp"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace kw {

/// Everything proposed and seen so far.
struct History {
  const SpaceSet& set;
  std::vector<Trial> trials;                     ///< in the order of their results
  std::map<Config, std::optional<double>> asked; ///< rank (lower is better); empty while pending

  [[nodiscard]] bool is_new(const Config& config) const { return !asked.contains(config); }
  [[nodiscard]] const Trial* best() const; ///< nullptr without a valid trial
  /// A legal configuration never asked for; nullopt if the space is exhausted.
  [[nodiscard]] std::optional<Config> random_new(Random& chance) const;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// A legal, new configuration, or nullopt to leave the choice to chance.
  virtual std::optional<Config> propose(const History& history, Random& chance) = 0;
  /// A result arrived (not only of this strategy's own proposals); it is already in `history`.
  virtual void learn(const History& history, const Trial& trial, Random& chance);
};

std::unique_ptr<Strategy> make_random_search();
/// Simulated annealing on Hamming-1 moves, relative cost differences.
std::unique_ptr<Strategy> make_annealing();
/// Categorical tree-structured Parzen estimator over all (or a pool of) new configurations.
std::unique_ptr<Strategy> make_tpe();
/// Hill climbing with random restarts.
std::unique_ptr<Strategy> make_hill_climb();
/// TPE, then hill climbing: see hybrid.cpp.
std::unique_ptr<Strategy> make_hybrid();

} // namespace kw
