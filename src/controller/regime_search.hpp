// SPDX-License-Identifier: Apache-2.0
// The search of one regime: tuner, champion, and the questions a candidate has to pass, cheapest
// first: does it build, is it admitted, is it right on a few inputs, does a short paired screen put
// it ahead of the champion, does the e-gate agree.
#pragma once

#include "controller/search_context.hpp"
#include "search/space_set.hpp"
#include "search/tuner.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kw {

class RegimeSearch {
 public:
  static Result<RegimeSearch> open(SearchContext& context, const Regime& regime);

  /// A probe of the same run from before an interruption: told, not measured again.
  Status recall(const Probe& probe);
  /// Known results of this regime from earlier runs, and the best of a regime searched before: both
  /// are tried early.
  void learn(const Probe& probe);
  void learn(const RegimeSearch& neighbour);
  /// Until the time, the evaluations (0 = any number) or the configurations are used up.
  Status run(double seconds, int evaluations);

  [[nodiscard]] const Regime& regime() const { return *regime_; }
  /// What to ship: the champion's configuration, else the best that a screen saw; nullopt = nothing
  /// correct.
  [[nodiscard]] std::optional<Config> winner() const;
  [[nodiscard]] bool beat_baseline() const { return !champion_id_.empty(); }
  [[nodiscard]] const std::string& champion_id() const { return champion_id_; }
  [[nodiscard]] const LoadedSpace& space_of(const Config& config) const;
  [[nodiscard]] std::string text(const Config& config) const { return set_->text(config); }

 private:
  explicit RegimeSearch(SearchContext& context) : context_(&context) {}
  [[nodiscard]] std::vector<Config> next_batch(int evaluations);
  Status judge_one(const Config& config, const Solution& solution, TargetBuild build);
  Status question(Subject& subject, Probe& probe, Observation& seen);
  Status gate(Subject& subject, double ahead, Probe& probe, Observation& seen);
  Result<std::string> loses_elsewhere(Subject& subject, Verdict& verdict);
  void enthrone(Subject subject, const Probe& probe, const Config& config);

  SearchContext* context_;
  const Regime* regime_ = nullptr;
  std::unique_ptr<SpaceSet> set_;
  std::unique_ptr<Tuner> tuner_; ///< made when the search begins, from what was learnt until then
  std::vector<Prior> prior_;
  std::vector<std::pair<Config, Observation>> recalled_;
  std::optional<Config> best_;
  Subject baseline_;        ///< loaded
  Subject champion_;        ///< loaded; the baseline until something beats it
  std::string champion_id_; ///< probe id, "" = baseline
  double champion_log_ = 0; ///< ln(t_baseline / t_champion), a chain of estimates
  int evaluations_ = 0;
};

} // namespace kw
