// SPDX-License-Identifier: Apache-2.0
#include "service/ablation.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>

namespace kw {
namespace {

AblationPlan plan_of(std::size_t tasks, int seeds) {
  AblationPlan plan;
  plan.options.seeds = seeds;
  for (std::size_t i = 0; i < tasks; ++i)
    plan.tasks.push_back({.definition = "d" + std::to_string(i),
                          .asked = {},
                          .sources = {},
                          .workloads = {{.uuid = "w", .axes = {}, .regime = {}}},
                          .left_out = {}});
  return plan;
}

ArmRun run_of(const std::string& arm) {
  return {.arm = arm,
          .workloads = {"a", "b"},
          .evaluations = 60,
          .seconds = 40,
          .build_seconds = 10,
          .hash = {},
          .champion = {}};
}

TEST(Ablation, EachArmSwitchesOffWhatItsNameSays) {
  for (const std::string& name : ablation_arm_names()) {
    const Result<AblationArm> arm = ablation_arm(name);
    ASSERT_TRUE(arm) << name;
    const std::vector<std::string> off = switched_off(arm->parts);
    if (name == "full")
      EXPECT_TRUE(off.empty());
    else if (name.starts_with("no-"))
      EXPECT_EQ(off, std::vector<std::string>{name.substr(3)});
    else
      EXPECT_EQ(
          (std::set<std::string>(off.begin(), off.end())),
          (std::set<std::string>{"profile", "directions", "memory", "supervisor", "references"}));
    EXPECT_EQ(arm->strategy, name == "random" ? Algorithm::random : Algorithm::hybrid);
  }
  EXPECT_FALSE(ablation_arm("no-such"));
  EXPECT_FALSE(ablation_arm("no-"));
}

TEST(Ablation, AnArmThatCannotDifferIsRefused) {
  AblationOptions options{.arms = {"full", "no-memory"}};
  EXPECT_FALSE(check_ablation(options));
  options.sessions = 2;
  EXPECT_TRUE(check_ablation(options));
  options.arms = {"full", "no-references"};
  EXPECT_FALSE(check_ablation(options));
  options.references = {"k.cpp"};
  EXPECT_TRUE(check_ablation(options));
  options.arms = {"full", "full"};
  EXPECT_FALSE(check_ablation(options));
}

TEST(Ablation, EveryRunOnceAndEveryRaceAfterItsRuns) {
  const AblationPlan plan = plan_of(2, 3);
  std::map<std::pair<std::size_t, int>, int> runs;
  std::set<std::string> first; // arms that begin
  std::set<std::tuple<std::size_t, int, std::string>> all;
  int seed = 1;
  for (const AblationStep& s : ablation_steps(plan)) {
    EXPECT_TRUE(all.emplace(s.task, s.seed, s.arm).second);
    EXPECT_GE(s.seed, seed); // all definitions of a seed before the next seed
    seed = s.seed;
    int& before = runs[{s.task, s.seed}];
    if (s.is_race())
      EXPECT_EQ(before, 3);
    else if (before++ == 0)
      first.insert(s.arm);
  }
  EXPECT_EQ(all.size(), 2u * 3u * 4u);
  EXPECT_EQ(first.size(), 3u);
}

TEST(Ablation, WhatIsDoneIsNotDoneAgain) {
  const AblationPlan plan = plan_of(2, 2);
  const std::vector<AblationStep> all = ablation_steps(plan);
  std::set<std::tuple<std::size_t, int, std::string>> done;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<AblationStep> left = steps_left(
        plan, [&](const AblationStep& s) { return done.contains({s.task, s.seed, s.arm}); });
    ASSERT_EQ(left.size(), all.size() - i);
    EXPECT_EQ(left.front().arm, all[i].arm);
    EXPECT_EQ(left.front().task, all[i].task);
    EXPECT_EQ(left.front().seed, all[i].seed);
    done.emplace(all[i].task, all[i].seed, all[i].arm);
  }
}

TEST(Ablation, ArmsOfAnotherBudgetAreUnmatched) {
  const ArmRun full = run_of("full");
  EXPECT_EQ(unmatched(full, run_of("tuner"), {}), "");
  ArmRun other = run_of("tuner");
  other.evaluations = 58;
  EXPECT_EQ(unmatched(full, other, {}), "`full` made 60 evaluations, `tuner` 58");
  other = run_of("tuner");
  other.workloads = {"a"};
  EXPECT_EQ(unmatched(full, other, {}), "`full` ran on a b and `tuner` on a");
}

TEST(Ablation, WallIsComparedWithoutBuildsAndWithinTheTolerance) {
  const ArmRun full = run_of("full"); // 30 s without builds
  ArmRun other = run_of("tuner");
  other.seconds = 200, other.build_seconds = 141; // 59 s: less than twice
  EXPECT_EQ(unmatched(full, other, {}), "");
  other.build_seconds = 139; // 61 s
  EXPECT_NE(unmatched(full, other, {}).find("`full` took 30 s without builds, `tuner` 61 s"),
            std::string::npos);
  EXPECT_NE(unmatched(other, full, {}), "");
  EXPECT_EQ(unmatched(full, other, {.wall_factor = 3}), "");
  other.seconds = 14, other.build_seconds = 0; // 16 s apart and more than twice
  EXPECT_NE(unmatched(full, other, {}), "");
  other.seconds = 16; // less than 15 s apart
  EXPECT_EQ(unmatched(full, other, {}), "");
}

/// Two workloads of weights 3 and 1; columns: baseline, "a", "b".
ChampionRace race_of(std::size_t rounds) {
  ChampionRace race;
  race.entrants = {{.hash = "x", .name = {}, .fault = "wrong"},
                   {.hash = "a", .name = {}, .fault = {}},
                   {.hash = "b", .name = {}, .fault = {}}};
  race.weights = {3, 1};
  for (std::size_t i = 0; i < rounds; ++i)
    race.rounds.push_back({{80, 20, 10}, {80, 10, 40}});
  return race;
}

TEST(Ablation, RatiosAreWeightedMeansOverWorkloads) {
  const ChampionRace race = race_of(7);
  // (3 ln(20/10) + 1 ln(10/40)) / 4 = ln 2 / 4
  EXPECT_NEAR(*champion_ratio(race, "b", "a"), std::log(2) / 4, 1e-12);
  EXPECT_NEAR(*champion_ratio(race, "a", "b"), -std::log(2) / 4, 1e-12);
  // (3 ln(80/20) + 1 ln(80/10)) / 4 = 9 ln 2 / 4
  EXPECT_NEAR(*champion_ratio(race, "a", ""), 9 * std::log(2) / 4, 1e-12);
}

TEST(Ablation, TheMedianOverRoundsIgnoresAWildOne) {
  ChampionRace race = race_of(7);
  race.rounds[3] = {{80, 2000, 10}, {80, 10, 40}};
  EXPECT_NEAR(*champion_ratio(race, "b", "a"), std::log(2) / 4, 1e-12);
}

TEST(Ablation, EqualChampionsNeedNoRace) {
  EXPECT_EQ(champion_ratio({}, "a", "a"), 0.0);
  EXPECT_EQ(champion_ratio({}, "", ""), 0.0);
  EXPECT_EQ(champion_ratio({}, "a", "b"), std::nullopt);
  EXPECT_EQ(champion_ratio(race_of(least_race_rounds - 1), "a", "b"), std::nullopt);
  EXPECT_TRUE(champion_ratio(race_of(least_race_rounds), "a", "b"));
}

TEST(Ablation, TheBaselineStandsForAChampionThatWasWrong) {
  const ChampionRace race = race_of(7);
  EXPECT_EQ(champion_ratio(race, "x", ""), 0.0);
  EXPECT_EQ(champion_ratio(race, "x", "a"), champion_ratio(race, "", "a"));
}

TEST(Ablation, ExpectedTimeGrowsWithTheCalls) {
  AblationPlan plan = plan_of(2, 1);
  plan.tasks[0].slot_seconds = 0.001, plan.tasks[1].slot_seconds = 0.1;
  EXPECT_LT(expected_seconds(plan, {.task = 0, .arm = "full"}),
            expected_seconds(plan, {.task = 1, .arm = "full"}));
  EXPECT_LT(expected_seconds(plan, {.task = 0, .arm = {}}),
            expected_seconds(plan, {.task = 1, .arm = {}}));
}

} // namespace
} // namespace kw
