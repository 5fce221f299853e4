// SPDX-License-Identifier: Apache-2.0
#include "controller/rounds.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

bool always(const Direction& /*direction*/) {
  return true;
}

RoundResult idle(const RoundPlan& plan, const RoundPlanner& planner) {
  return {.number = plan.number,
          .signature = planner.signature(),
          .direction = plan.direction == nullptr ? "" : std::string(plan.direction->id),
          .before = 0.5,
          .after = 0.5,
          .best_seen = 0.49,
          .tried = plan.candidates,
          .valid = plan.candidates,
          .seconds = 1};
}

TEST(Directions, NameKnownRolesAndStatesOnce) {
  static constexpr std::array<std::string_view, 11> words = {
      "compute",    "memory", "mixed",     "vectorisation", "dependency", "latency",
      "load_store", "launch", "threading", "tail",          "unknown"};
  std::set<std::string_view> ids, families;
  for (const Direction& d : directions()) {
    EXPECT_TRUE(ids.insert(d.id).second) << d.id;
    families.insert(d.family);
    EXPECT_EQ(find_direction(d.id), &d);
    EXPECT_GT(d.expected, 1);
    EXPECT_FALSE(d.roles.empty());
    for (const std::string_view role : d.roles)
      EXPECT_NE(std::find(parameter_roles.begin(), parameter_roles.end(), role),
                parameter_roles.end())
          << role;
    for (const std::string_view state : d.states)
      EXPECT_NE(std::find(words.begin(), words.end(), state), words.end()) << state;
  }
  EXPECT_GE(families.size(), 3u);
  EXPECT_EQ(find_direction("nonsense"), nullptr);
}

TEST(Directions, FreeTheParametersOfTheirRoles) {
  const Space space = parse_space(R"({"schema": "kernwright.space/1", "name": "s", "family": "f",
    "template": "t.cpp", "entry": "e", "parameters": [
      {"name": "U", "role": "unroll", "values": [1, 2]},
      {"name": "NT", "role": "stores", "values": [0, 1]},
      {"name": "ONE", "role": "stores", "values": [3]},
      {"name": "X", "values": [0, 1]}]})",
                                  "s.space.json")
                          .value();
  const SpaceSet set = SpaceSet::bind({space}, {}).value();
  const Config anchor{0, {0, 0, 0, 0}};
  EXPECT_EQ(focus_of(*find_direction("past-the-cache"), set, anchor)->freed,
            (std::vector<std::size_t>{1})); // a single value frees nothing
  EXPECT_EQ(focus_of(*find_direction("more-chains"), set, anchor)->freed,
            (std::vector<std::size_t>{0}));
  EXPECT_FALSE(focus_of(*find_direction("prefetch"), set, anchor));
}

TEST(Rounds, SurveyFirstThenDirectionAndModelInTurn) {
  RoundPlanner planner({}, 1, true);
  planner.reconnoitred();
  RoundPlan plan = planner.next(always);
  EXPECT_EQ(plan.phase, "explore");
  EXPECT_EQ(plan.direction, nullptr);
  EXPECT_GE(plan.candidates, 3);
  EXPECT_LE(plan.candidates, 8);
  planner.close(idle(plan, planner));
  planner.state("memory", 1.15, "memory/rows");
  plan = planner.next(always);
  ASSERT_NE(plan.direction, nullptr);
  EXPECT_LE(plan.predicted, 1.15) << "no more than the roofline leaves";
  EXPECT_NE(std::find(plan.direction->states.begin(), plan.direction->states.end(), "memory"),
            plan.direction->states.end());
  planner.close(idle(plan, planner));
  EXPECT_EQ(planner.next(always).direction, nullptr) << "the model's turn";
}

TEST(Rounds, WhatFailedTwiceFromAStateIsBlockedThereAndOpenElsewhere) {
  RoundPlanner planner({.supervisor = false}, 1, true);
  planner.reconnoitred();
  planner.close(idle(planner.next(always), planner));
  planner.state("latency", 3, "latency/rows");
  std::map<std::string, int> tries;
  for (int i = 0; i < 40; ++i) {
    const RoundPlan plan = planner.next(always);
    if (plan.direction != nullptr)
      ++tries[std::string(plan.direction->id)];
    planner.close(idle(plan, planner));
  }
  EXPECT_GE(tries.size(), 3u);
  for (const auto& [id, times] : tries)
    EXPECT_EQ(times, supervision::cycle_times) << id;
  EXPECT_EQ(planner.next(always).blocked.size(), tries.size());
  EXPECT_TRUE(planner.next(always).recommended.empty());
  planner.state("latency", 3, "latency/other");
  EXPECT_FALSE(planner.next(always).recommended.empty());
}

TEST(Rounds, ADirectionThatKeepsItsWordIsPreferred) {
  RoundPlanner planner({.supervisor = false}, 1, true);
  planner.reconnoitred();
  planner.close(idle(planner.next(always), planner));
  planner.state("memory", 5, "memory/rows");
  const std::string best(planner.next(always).direction->id);
  RoundPlan plan = planner.next(always);
  planner.close(idle(plan, planner));                 // the first does not help
  planner.close(idle(planner.next(always), planner)); // model
  plan = planner.next(always);
  EXPECT_NE(plan.direction->id, best);
  const std::string second(plan.direction->id);
  RoundResult gain = idle(plan, planner);
  gain.after = gain.before + 0.2;
  planner.close(gain);
  const RoundPlanner::Account& account = planner.accounts().at({"memory/rows", second});
  EXPECT_EQ(account.gains, 1);
  EXPECT_NEAR(account.measured, 0.2, 1e-12);
  EXPECT_GT(account.predicted, 0);
}

TEST(Rounds, EarlierRunsCountFromTheSameStateOnly) {
  const auto first_choice = [](const std::string& signature) {
    RoundPlanner planner({.supervisor = false}, 1, true);
    planner.reconnoitred();
    planner.remember({"memory/rows", "prefetch", 9, 9});
    planner.remember({"memory/rows", "past-the-cache", 9, 0});
    planner.close(idle(planner.next(always), planner));
    planner.state("memory", 5, signature);
    return planner.next(always);
  };
  // 1.1x that always came true is worth more than 1.2x that never did.
  const RoundPlan known = first_choice("memory/rows");
  EXPECT_EQ(known.recommended.back(), "past-the-cache");
  const RoundPlan fresh = first_choice("memory/columns");
  EXPECT_NE(fresh.recommended.back(), "past-the-cache");
  const auto rank = [](const RoundPlan& plan, std::string_view id) {
    return std::find(plan.recommended.begin(), plan.recommended.end(), id) -
           plan.recommended.begin();
  };
  EXPECT_LT(rank(known, "prefetch"), rank(fresh, "prefetch"));
}

TEST(Rounds, PeoplePreferAndBlock) {
  RoundPlanner planner({.supervisor = false}, 1, true);
  planner.reconnoitred();
  planner.close(idle(planner.next(always), planner));
  planner.state("compute", 5, "compute/rows");
  planner.prefer("task-grain"); // no answer to compute
  RoundPlan plan = planner.next(always);
  EXPECT_EQ(plan.direction->id, "task-grain");
  planner.close(idle(plan, planner));
  EXPECT_EQ(planner.next(always).direction, nullptr) << "once, then the model's turn";
  planner.close(idle(planner.next(always), planner));
  const std::string best(planner.next(always).direction->id);
  planner.block(best);
  EXPECT_NE(planner.next(always).direction->id, best);
  const RoundPlan blocked = planner.next(always);
  EXPECT_NE(std::find(blocked.blocked.begin(), blocked.blocked.end(), best), blocked.blocked.end());
}

TEST(Rounds, PartsCanBeSwitchedOff) {
  ControllerParts parts;
  for (const std::string& name : controller_part_names())
    switch_off(parts, name);
  EXPECT_EQ(switched_off(parts), controller_part_names());
  RoundPlanner planner(parts, 1, true);
  planner.reconnoitred();
  planner.state("memory", 5, "memory/rows");
  for (int i = 0; i < 60; ++i) {
    const RoundPlan plan = planner.next(always);
    EXPECT_EQ(plan.direction, nullptr);
    EXPECT_FALSE(plan.intervention);
    planner.close(idle(plan, planner));
  }
  EXPECT_FALSE(planner.ended());
}

/// Rounds that gain `gain` each, of one second.
std::vector<RoundResult> rounds(std::initializer_list<double> gains, double behind = 0) {
  std::vector<RoundResult> out;
  double at = 0;
  for (const double gain : gains) {
    out.push_back({.number = static_cast<int>(out.size()) + 1,
                   .signature = "s",
                   .direction = "",
                   .before = at,
                   .after = at + gain,
                   .best_seen = at + gain - behind,
                   .tried = 3,
                   .valid = 3,
                   .seconds = 1});
    at += gain;
  }
  return out;
}

TEST(Supervisor, LetsASearchThatGainsAlone) {
  EXPECT_FALSE(supervise(rounds({0.5, 0.1, 0.05, 0.05, 0.1, 0.05}), {}, 1));
  EXPECT_FALSE(supervise(rounds({0.5, 0, 0, 0.03, 0, 0}), {}, 1));
  EXPECT_FALSE(supervise({}, {}, 1));
}

TEST(Supervisor, NamesWhatItSees) {
  EXPECT_EQ(supervise(rounds({0.5, 0, 0, 0, 0.01}), {}, 1)->detector, "stall");
  EXPECT_EQ(supervise(rounds({0.5, 0, 0, 0, 0}, 0.3), {}, 1)->detector, "regression");
  EXPECT_EQ(supervise(rounds({0.9, 0.9, 0.9, 0.9, 0.9, 0.03, 0, 0, 0}), {}, 1)->detector,
            "diminishing returns");
}

TEST(Supervisor, RecoversInOrderWithMorePatienceEachTimeAndThenHandsOver) {
  std::vector<RoundResult> all = rounds({0.5});
  std::vector<Recovery> taken;
  std::vector<std::size_t> at;
  for (int i = 0; i < 40; ++i) {
    all.push_back(rounds({0}).front());
    if (const auto intervention = supervise(all, taken, 2)) {
      taken.push_back(intervention->recovery);
      at.push_back(all.size());
    }
  }
  EXPECT_EQ(taken, (std::vector<Recovery>{Recovery::change_family, Recovery::restart_from_branch,
                                          Recovery::change_proposer, Recovery::hand_over}));
  EXPECT_EQ(at, (std::vector<std::size_t>{5, 8, 12, 16}));
  EXPECT_EQ(supervise(all, {Recovery::change_family, Recovery::restart_from_branch}, 1)->recovery,
            Recovery::hand_over)
      << "with one proposer there is none to change to";
}

TEST(Rounds, OnlyARegimeThatMayStopEndsAtAPlateau) {
  for (const bool may_stop : {true, false}) {
    RoundPlanner planner({}, 1, may_stop);
    planner.reconnoitred();
    planner.state("unknown", 1, "unknown/rows");
    for (int i = 0; i < 60 && !planner.ended(); ++i)
      planner.close(idle(planner.next(always), planner));
    EXPECT_EQ(planner.ended(), may_stop);
  }
}

} // namespace
} // namespace kw
