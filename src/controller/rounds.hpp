// SPDX-License-Identifier: Apache-2.0
// Plans the rounds of one regime: first a survey, then one bounded direction per round in turn with
// the model's free choice; what failed from the same state is blocked; the supervisor interferes.
// Pure: states and results in, plans out.
#pragma once

#include "controller/direction.hpp"
#include "controller/known.hpp"
#include "controller/supervisor.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kw {

/// What of the controller is switched on: an ablation switches parts off.
struct ControllerParts {
  bool profile = true, directions = true, memory = true, supervisor = true, references = true,
       dispatch = true;
};
/// "profile", "directions", "memory", "supervisor", "references", "dispatch".
[[nodiscard]] std::vector<std::string> controller_part_names();
void switch_off(ControllerParts& parts, std::string_view name);
[[nodiscard]] std::vector<std::string> switched_off(const ControllerParts& parts);

struct RoundPlan {
  int number = 0;
  std::string phase;                    ///< "explore", "exploit"; "interlude": outside the rounds
  const Direction* direction = nullptr; ///< null = the model's free choice
  int candidates = 0;
  double predicted = 1; ///< speed-up that the direction is expected to bring
  std::string why;
  std::vector<std::string> blocked, recommended; ///< direction ids
  std::optional<Intervention> intervention = {}; ///< before this round

  /// Whoever takes the round goes his own way.
  void drop_direction(std::string reason) {
    direction = nullptr;
    predicted = 1;
    why = std::move(reason);
  }
};

/// A finished round as a report shows it.
struct RoundRecord {
  std::string regime;
  RoundPlan plan;
  RoundResult result;
  std::string state; ///< of the champion it started from: "" before the first profile
  std::string proposer = "tuner";
};

class RoundPlanner {
 public:
  static constexpr int explore_candidates = 6; ///< of 3 to 8: seeds and random points in turn
  static constexpr int round_candidates = 3;

  /// `proposers`: how many could take a round. `may_stop`: whether a plateau may end the search.
  /// `attended`: somebody can be asked.
  RoundPlanner(ControllerParts parts, int proposers, bool may_stop, bool attended = false)
      : parts_(parts), proposers_(proposers), may_stop_(may_stop), attended_(attended) {}

  /// The champion's state: the word of its bottleneck and its headroom (1 = unknown).
  void state(std::string word, double headroom, std::string signature);
  /// `applies`: whether the champion's template has parameters for the direction.
  /// What is at hand was judged and timed: no round is planned before.
  void reconnoitred() { reconnoitred_ = true; }
  RoundPlan next(const std::function<bool(const Direction&)>& applies);
  /// What people ask for: the direction of the next round, whatever the state says; a direction
  /// that is not taken any more; an end.
  void prefer(const std::string& direction) { preferred_ = direction; }
  void block(const std::string& direction) { unwanted_.insert(direction); }
  void end() { ended_ = true; }
  void close(RoundResult result);

  [[nodiscard]] const std::vector<RoundResult>& rounds() const { return rounds_; }
  [[nodiscard]] const std::string& state_word() const { return word_; }
  [[nodiscard]] double headroom() const { return headroom_; }
  [[nodiscard]] const std::string& signature() const { return signature_; }
  [[nodiscard]] bool ended() const { return ended_; }
  /// How a direction fared from a state in earlier runs.
  void remember(const KnownDirection& known);
  /// Predicted over measured, of one direction from one signature, over all rounds of this regime.
  struct Account {
    int rounds = 0, gains = 0;
    double predicted = 0, measured = 0; ///< sums of ln(speed-up)
  };
  /// By signature and direction.
  using Accounts = std::map<std::pair<std::string, std::string>, Account>;
  [[nodiscard]] const Accounts& accounts() const { return accounts_; }

 private:
  [[nodiscard]] double promise(const Direction& direction) const;

  ControllerParts parts_;
  int proposers_;
  bool may_stop_, attended_;
  std::string word_ = "unknown", signature_;
  double headroom_ = 1;
  std::vector<RoundResult> rounds_;
  std::vector<Recovery> taken_;
  Accounts accounts_;
  Accounts earlier_;               ///< of earlier runs
  double predicted_ = 0;           ///< of the round under way, ln
  std::string preferred_;          ///< "" = nobody prefers any
  std::set<std::string> unwanted_; ///< blocked by people
  bool ended_ = false, reconnoitred_ = false;
};

} // namespace kw
