// SPDX-License-Identifier: Apache-2.0
#include "controller/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

bool answers(const Direction& direction, const std::string& word) {
  // Where nothing explains the time every direction is as good as another.
  return word == "unknown" || std::find(direction.states.begin(), direction.states.end(), word) !=
                                  direction.states.end();
}

struct PartName {
  std::string_view name;
  bool ControllerParts::* part;
};
constexpr PartName part_names[] = {
    {"profile", &ControllerParts::profile},       {"directions", &ControllerParts::directions},
    {"memory", &ControllerParts::memory},         {"supervisor", &ControllerParts::supervisor},
    {"references", &ControllerParts::references}, {"dispatch", &ControllerParts::dispatch}};

} // namespace

std::vector<std::string> controller_part_names() {
  std::vector<std::string> out;
  for (const PartName& p : part_names)
    out.emplace_back(p.name);
  return out;
}

void switch_off(ControllerParts& parts, std::string_view name) {
  for (const PartName& p : part_names)
    if (p.name == name)
      parts.*p.part = false;
}

std::vector<std::string> switched_off(const ControllerParts& parts) {
  std::vector<std::string> out;
  for (const PartName& p : part_names)
    if (!(parts.*p.part))
      out.emplace_back(p.name);
  return out;
}

void RoundPlanner::state(std::string word, double headroom, std::string signature) {
  word_ = std::move(word);
  headroom_ = headroom;
  signature_ = std::move(signature);
}

void RoundPlanner::remember(const KnownDirection& known) {
  Account& account = earlier_[{known.signature, known.direction}];
  account.rounds += known.rounds;
  account.gains += known.gains;
}

/// What it is expected to bring, ln: its own figure, no more than the roofline leaves, times how
/// often it kept its word: in this regime, from any state, and in earlier runs from this very one
/// (one success in two before the first try).
double RoundPlanner::promise(const Direction& direction) const {
  double most = std::log(direction.expected);
  if (headroom_ > 1)
    most = std::min(most, std::log(headroom_));
  int rounds = 0, gains = 0;
  for (const auto& [key, account] : accounts_)
    if (key.second == direction.id)
      rounds += account.rounds, gains += account.gains;
  if (const auto known = earlier_.find({signature_, std::string(direction.id)});
      known != earlier_.end())
    rounds += known->second.rounds, gains += known->second.gains;
  return most * (gains + 1) / (rounds + 2);
}

RoundPlan RoundPlanner::next(const std::function<bool(const Direction&)>& applies) {
  KW_ASSERT(reconnoitred_);
  RoundPlan plan{.number = static_cast<int>(rounds_.size()) + 1,
                 .phase = rounds_.empty() ? "explore" : "exploit",
                 .candidates = rounds_.empty() ? explore_candidates : round_candidates,
                 .why = {},
                 .blocked = {},
                 .recommended = {}};
  predicted_ = 0;
  if (rounds_.empty()) {
    plan.why = "known good and random points of every template first";
    return plan;
  }
  if (parts_.supervisor)
    plan.intervention = supervise(rounds_, taken_, proposers_, attended_);
  if (plan.intervention) {
    if (plan.intervention->recovery == Recovery::hand_over && !may_stop_)
      plan.intervention.reset();
    else
      taken_.push_back(plan.intervention->recovery);
  }
  if (plan.intervention && plan.intervention->recovery == Recovery::hand_over)
    ended_ = true;
  std::vector<const Direction*> open;
  for (const Direction& d : directions()) {
    if (!applies(d) || (!answers(d, word_) && d.id != preferred_))
      continue;
    if (unwanted_.contains(std::string(d.id)) ||
        (is_cycle(rounds_, signature_, d.id) && d.id != preferred_))
      plan.blocked.emplace_back(d.id);
    else
      open.push_back(&d);
  }
  std::stable_sort(open.begin(), open.end(), [&](const Direction* a, const Direction* b) {
    if ((a->id == preferred_) != (b->id == preferred_))
      return a->id == preferred_;
    return promise(*a) > promise(*b);
  });
  for (const Direction* d : open)
    plan.recommended.emplace_back(d->id);
  const bool asked_for = !open.empty() && open.front()->id == preferred_;
  const bool models_turn = !rounds_.back().direction.empty() && !asked_for;
  if (!parts_.directions || open.empty() || models_turn) {
    plan.why = !parts_.directions ? "directions are switched off"
               : open.empty() ? fmt::format("nothing left to try for a kernel that is {}", word_)
                              : "the model's turn";
    return plan;
  }
  plan.direction = open.front();
  predicted_ = promise(*plan.direction);
  plan.predicted = std::exp(predicted_);
  plan.why = asked_for ? "somebody asked for it"
                       : fmt::format("state {}, headroom {:.2f}x", word_, headroom_);
  preferred_.clear();
  return plan;
}

void RoundPlanner::close(RoundResult result) {
  if (result.after - result.before >= supervision::noise)
    taken_.clear();
  if (!result.direction.empty()) {
    Account& account = accounts_[{result.signature, result.direction}];
    ++account.rounds;
    account.gains += result.after - result.before >= supervision::noise ? 1 : 0;
    account.predicted += predicted_;
    account.measured += result.after - result.before;
  }
  rounds_.push_back(std::move(result));
}

} // namespace kw
