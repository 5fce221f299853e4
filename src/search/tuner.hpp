// SPDX-License-Identifier: Apache-2.0
// The schedule tuner: seed and observations in, proposals out. It runs nothing and reads no clock,
// so the same seed and the same observations give the same proposals, and a stored run resumes by
// replay.
#pragma once

#include "base/result.hpp"
#include "search/observation.hpp"
#include "search/space_set.hpp"
#include "search/strategy.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

enum class Algorithm { hybrid, tpe, hill_climb, annealing, random };

[[nodiscard]] std::string_view name(Algorithm algorithm); ///< "hybrid", "tpe", "hill-climb", ...
[[nodiscard]] std::optional<Algorithm> algorithm_from_name(std::string_view text);
[[nodiscard]] std::vector<std::string> algorithm_names();

/// A result of an earlier run in the same space (same operator signature, a near shape or machine).
struct Prior {
  Config config;
  double cost = 0; ///< comparable among the priors only; never mixed with this run's costs
};

/// Where one proposal may come from: configurations of the anchor's space that differ from it in
/// some of the freed parameters and in nothing else.
struct Focus {
  Config anchor;
  std::vector<std::size_t> freed; ///< parameter indices, ascending
};

struct TunerOptions {
  Algorithm algorithm = Algorithm::hybrid;
  std::uint64_t seed = 0;
  std::vector<Prior> prior;
};

class Tuner {
 public:
  /// `set` must outlive the tuner.
  Tuner(const SpaceSet& set, TunerOptions options);

  /// The next configuration to evaluate: legal, and never one that was proposed or told before.
  /// nullopt when the space is exhausted. Several may be asked for before the first is told.
  std::optional<Config> ask();
  /// The most promising one by the estimator within `focus`; nullopt when all of it was seen.
  std::optional<Config> ask(const Focus& focus);
  /// Whether there is anything new within it.
  [[nodiscard]] bool has_new(const Focus& focus) const;
  /// Results may come in any order, also for configurations never asked for (a known kernel, say).
  /// A second result of the same configuration, and one that is not legal, is ignored.
  void tell(const Config& config, const Observation& observation);

  [[nodiscard]] const std::vector<Trial>& trials() const { return history_.trials; }
  [[nodiscard]] const Trial* best() const {
    return history_.best();
  } ///< nullptr: nothing valid yet

  /// JSON text ("kernwright.tuner/1") from which resume() makes an equal tuner.
  [[nodiscard]] std::string state() const;
  /// Replays `state`. Errors: damaged text; a space, or a version of the tuner, that would have
  /// proposed otherwise.
  static Result<Tuner> resume(const SpaceSet& set, std::string_view state);

 private:
  struct Event {
    Config config;
    std::optional<Observation> observation;    ///< empty: it was asked for
    std::optional<Focus> focus = std::nullopt; ///< with which it was asked for
  };
  void plan_start();
  std::optional<Config> choose();
  std::optional<Config> asked(std::optional<Config> next, const std::optional<Focus>& focus);

  TunerOptions options_;
  History history_;
  Random chance_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<std::optional<Config>>
      start_; ///< planned first proposals, next one last; empty = random
  std::vector<Event> journal_;
};

} // namespace kw
