// SPDX-License-Identifier: Apache-2.0
// The search of one regime: rounds, proposers, champion, and the questions a candidate has to pass,
// cheapest first: does it build, is it admitted, is it right on a few inputs, does a short paired
// screen put it ahead of the champion, does the e-gate agree.
#pragma once

#include "controller/candidate.hpp"
#include "controller/known.hpp"
#include "controller/rounds.hpp"
#include "controller/search_context.hpp"
#include "controller/seat.hpp"
#include "search/space_set.hpp"
#include "search/tuner.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kw {

class RegimeSearch {
 public:
  static Result<RegimeSearch> open(SearchContext& context, const Regime& regime);

  /// What earlier runs found in this regime, and the best of a regime searched before: both are
  /// tried early.
  void learn(const KnownAttempt& known);
  void learn(const RegimeSearch& neighbour);
  /// Until the time, the evaluations (0 = any number) or the configurations are used up.
  /// `may_stop`: a plateau that no recovery ends may hand the rest of the time over.
  Status run(double seconds, int evaluations, bool may_stop, const Memory& memory);

  [[nodiscard]] const Regime& regime() const { return *regime_; }
  /// What to ship: the champion, else the tuner's best that a screen saw; nullopt = nothing
  /// correct.
  [[nodiscard]] std::optional<Winner> winner() const;
  [[nodiscard]] BranchRecord branch(std::size_t regime) const;
  [[nodiscard]] bool beat_baseline() const { return !champion_id_.empty(); }
  [[nodiscard]] const std::string& champion_id() const { return champion_id_; }
  [[nodiscard]] const LoadedSpace& space_of(const Config& config) const;
  [[nodiscard]] std::string text(const Config& config) const { return set_->text(config); }

 private:
  explicit RegimeSearch(SearchContext& context) : context_(&context) {}
  [[nodiscard]] bool goes_on() const;
  Status reconnoitre(RoundPlanner& planner, const Memory& memory);
  /// Asks for the champion's bottleneck where it has changed enough since the last time.
  Status diagnose(RoundPlanner& planner);
  Status one_round(RoundPlanner& planner, const Memory& memory);
  /// The champion's configuration, or where it has none the best of the tuner's own.
  [[nodiscard]] std::optional<Config> best_config() const;
  [[nodiscard]] std::optional<Config> anchor(const RoundPlan& plan) const;
  // Who proposes (regime_proposing.cpp).
  [[nodiscard]] static std::string seat_name(const Proposer* proposer);
  void seat_proposers();
  [[nodiscard]] bool sits(std::size_t who) const;
  [[nodiscard]] int batch_size(int left) const;
  Result<std::vector<Candidate>> propose(const std::optional<Focus>& focus, int count);
  Result<bool> tuner_round(RoundPlan& plan, const Memory& memory, RoundResult& round);
  [[nodiscard]] ProposalRequest open_request(int count) const;
  [[nodiscard]] ProposalRequest request_of(const Proposer& proposer, RoundPlan& plan,
                                           const RoundPlanner& planner) const;
  Result<Proposals> ask(Proposer& proposer, const ProposalRequest& request);
  Status foreign_round(const Proposer& proposer, Proposals proposals, const RoundPlan& plan,
                       const Memory& memory, RoundResult& round);
  Status interludes(const Memory& memory);
  Status interlude(Proposer& proposer, double wait_seconds, const Memory& memory);
  Status wait_for_proposals(const Memory& memory);
  /// What people say (regime_steering.cpp).
  Status listen(RoundPlanner& planner, double wait_seconds);
  Status ask_somebody(const RoundPlan& plan, RoundPlanner& planner);
  void log_round(const RoundPlan& plan, std::string_view proposer) const;
  // What becomes of it (regime_judging.cpp).
  void tell(const Candidate& candidate, const Observation& seen, Attempt attempt);

  Status judge_batch(const std::vector<Candidate>& batch, const RoundPlan& plan,
                     const Memory& memory, RoundResult& round);
  Result<std::vector<TargetBuild>> build(const std::vector<Solution>& solutions);
  Result<Json> judge_live(const Candidate& candidate, const RoundPlan& plan,
                          std::optional<TargetBuild> build);
  Status take_in(const Candidate& candidate, const RoundPlan& plan, const Json& result,
                 RoundResult& round);
  Status question(Subject& subject, Probe& probe, Observation& seen);
  Status gate(Subject& subject, double ahead, Probe& probe, Observation& seen);
  Result<std::string> loses_elsewhere(Subject& subject, Verdict& verdict);
  /// The baseline's and the champion's process; made anew after a replayed part.
  Result<Subject*> baseline();
  Result<Subject*> champion();

  SearchContext* context_;
  const Regime* regime_ = nullptr;
  std::unique_ptr<SpaceSet> set_;
  std::unique_ptr<Tuner> tuner_; ///< made when the search begins, from what was learnt until then
  std::vector<Prior> prior_;
  std::optional<Winner> best_;
  std::vector<Attempt> attempts_;  ///< oldest first
  std::vector<Proposer*> seated_;  ///< those who take rounds in turn; nullptr = the tuner
  std::set<const Proposer*> gone_; ///< failed, or has nothing more: not asked again
  std::unique_ptr<Seat> seat_;
  Subject baseline_;              ///< loaded when first needed
  Subject champion_;              ///< not loaded: the baseline stands for it, or it was replayed
  double building_ = 0;           ///< seconds of builds that no result has counted yet
  Subject live_;                  ///< the candidate that was judged last
  std::optional<Solution> crown_; ///< the champion's sources, nullopt = baseline
  std::string champion_id_;       ///< probe id, "" = baseline
  double champion_log_ = 0;       ///< ln(t_baseline / t_champion), a chain of estimates
  BottleneckState state_;         ///< when it was profiled last
  double profiled_log_ = -1;      ///< champion_log_ when it was profiled last
  int evaluations_ = 0, most_evaluations_ = 0;
  bool exhausted_ = false;         ///< nobody has anything left
  double began_ = 0, seconds_ = 0; ///< in the run's recorded time
};

} // namespace kw
