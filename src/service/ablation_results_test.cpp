// SPDX-License-Identifier: Apache-2.0
#include "service/ablation_results.hpp"

#include "service/ablation_store.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace kw {
namespace {

AblationPlan two_tasks(std::vector<std::string> arms) {
  AblationPlan plan{.started_at = "2026-01-01T00:00:00Z",
                    .version = "1",
                    .hardware = "a machine",
                    .compiler = "g++",
                    .flags = "-O2",
                    .options = {.arms = std::move(arms), .seeds = 2},
                    .tasks = {}};
  for (const char* name : {"first", "second"})
    plan.tasks.push_back(
        {.definition = name,
         .asked = name,
         .sources = "s",
         .workloads = {{.uuid = "w1", .axes = "m=1", .regime = "all", .call_ns = 2e6}},
         .left_out = {"m >= 64: none"},
         .slot_seconds = 0.01});
  return plan;
}

ArmRun run(const std::string& arm, const std::string& hash) {
  return {.arm = arm,
          .workloads = {"w1"},
          .evaluations = 60,
          .seconds = 30,
          .build_seconds = 5,
          .hash = hash,
          .champion = hash.empty() ? "" : "k-" + hash};
}

/// One workload, eight equal rounds: the baseline takes 100 ns, champions as said.
ChampionRace race(const std::vector<std::pair<std::string, double>>& champions) {
  ChampionRace out;
  std::vector<double> ns{100};
  for (const auto& [hash, time] : champions) {
    out.entrants.push_back({.hash = hash, .name = "k-" + hash, .fault = {}});
    ns.push_back(time);
  }
  out.workloads = {"w1"};
  out.weights = {1};
  out.rounds.assign(8, {ns});
  return out;
}

/// full is 2x and 1x of the tuner on the first definition, 4x and 4x on the second.
AblationResults complete() {
  AblationResults out;
  out[{0, 1}] = {.runs = {{"full", run("full", "f")}, {"tuner", run("tuner", "t")}},
                 .race = race({{"f", 20}, {"t", 40}})};
  out[{0, 2}] = {.runs = {{"full", run("full", "t")}, {"tuner", run("tuner", "t")}},
                 .race = ChampionRace{}};
  for (int seed : {1, 2})
    out[{1, seed}] = {.runs = {{"full", run("full", "f")}, {"tuner", run("tuner", "")}},
                      .race = race({{"f", 25}})};
  return out;
}

TEST(AblationResults, RatiosOfDefinitionsAndSeedsMakeOneFigure) {
  const AblationReport r = summarise_ablation(two_tasks({"full", "tuner"}), complete());
  EXPECT_EQ(r.reference, "tuner");
  EXPECT_TRUE(r.complete());
  ASSERT_EQ(r.comparisons.size(), 1u);
  const AblationComparison& c = r.comparisons[0];
  EXPECT_EQ(c.arm, "full");
  EXPECT_EQ(c.against, "tuner");
  // ((ln 2 + 0) / 2 + (ln 4 + ln 4) / 2) / 2 = 5/4 ln 2
  EXPECT_NEAR(c.value, std::exp2(1.25), 1e-12);
  ASSERT_EQ(c.per_definition.size(), 2u);
  EXPECT_NEAR(c.per_definition[0].second, std::sqrt(2), 1e-12);
  EXPECT_NEAR(c.per_definition[1].second, 4, 1e-12);
  EXPECT_EQ(c.pairs, 4u);
  EXPECT_EQ(c.same, 1u);
  EXPECT_EQ(c.missing, 0u);
  // Both definitions drawn as the first (1 in 4): of the four seeds drawn there, none has the gain
  // of ln 2 in 1/16 and one in 4/16. So the least mean, 0, has 1/64 = 1.6 %, and the next, ln 2 /
  // 4, takes it to 7.8 %: the points of 2.5 % and of 5 % are there. Both drawn as the second: ln 4.
  EXPECT_NEAR(c.low, std::exp2(0.25), 1e-9);
  EXPECT_NEAR(c.low95, std::exp2(0.25), 1e-9);
  EXPECT_NEAR(c.high, 4, 1e-9);
  EXPECT_EQ(ablation_word(c), "faster");
}

TEST(AblationResults, CellsSayWhatHappened) {
  const AblationReport r = summarise_ablation(two_tasks({"full", "tuner"}), complete());
  ASSERT_EQ(r.cells.size(), 8u);
  EXPECT_NEAR(*r.cells[0].over_baseline, 5, 1e-12);
  EXPECT_NEAR(*r.cells[0].over_reference, 2, 1e-12);
  EXPECT_FALSE(r.cells[0].same);
  EXPECT_TRUE(r.cells[2].same); // one champion: no race, so nothing is known of the baseline
  EXPECT_EQ(r.cells[2].over_reference, 1.0);
  EXPECT_FALSE(r.cells[2].over_baseline);
  EXPECT_EQ(r.cells[5].champion, ""); // the tuner ended with the baseline
  EXPECT_EQ(r.cells[5].over_baseline, 1.0);
}

TEST(AblationResults, AnUnmatchedPairForbidsARanking) {
  AblationResults results = complete();
  results[{1, 2}].runs["full"].evaluations = 59;
  const AblationReport r = summarise_ablation(two_tasks({"full", "tuner"}), results);
  EXPECT_EQ(r.comparisons[0].refused,
            "unmatched in 1 of 4 pairs: second seed 2: `full` made 59 evaluations, `tuner` 60");
  EXPECT_EQ(ablation_word(r.comparisons[0]), "no ranking");
  EXPECT_EQ(r.comparisons[0].pairs, 0u);
  EXPECT_EQ(r.cells[6].unmatched, "`full` made 59 evaluations, `tuner` 60");
  EXPECT_NE(ablation_text(r, false).find("full and tuner are not ranked: unmatched in 1 of 4"),
            std::string::npos);
  EXPECT_EQ(ablation_json(r).find("geomean"), std::string::npos);
}

TEST(AblationResults, WhatIsMissingIsCounted) {
  AblationResults results = complete();
  results[{1, 2}].race.reset();
  results[{1, 1}].runs.erase("tuner");
  const AblationReport r = summarise_ablation(two_tasks({"full", "tuner"}), results);
  EXPECT_EQ(r.comparisons[0].missing, 2u);
  EXPECT_EQ(r.comparisons[0].pairs, 2u);
  EXPECT_FALSE(r.complete());
  EXPECT_NE(ablation_text(r, false).find("10 of 12 runs and races"), std::string::npos)
      << ablation_text(r, false);
}

TEST(AblationResults, WhatAPartBringsIsAllAgainstAllButIt) {
  const AblationReport r = summarise_ablation(two_tasks({"full", "tuner", "no-profile"}), {});
  ASSERT_EQ(r.comparisons.size(), 3u);
  EXPECT_EQ(r.comparisons[0].arm + "/" + r.comparisons[0].against, "full/tuner");
  EXPECT_EQ(r.comparisons[1].arm + "/" + r.comparisons[1].against, "no-profile/tuner");
  EXPECT_EQ(r.comparisons[2].arm + "/" + r.comparisons[2].against, "full/no-profile");
  EXPECT_EQ(summarise_ablation(two_tasks({"full", "no-profile"}), {}).reference, "full");
}

TEST(AblationResults, ALoneArmIsHeldAgainstTheBaseline) {
  AblationResults results;
  results[{0, 1}] = {.runs = {{"full", run("full", "f")}}, .race = race({{"f", 50}})};
  const AblationReport r = summarise_ablation(two_tasks({"full"}), results);
  EXPECT_EQ(r.reference, "baseline");
  ASSERT_EQ(r.comparisons.size(), 1u);
  EXPECT_EQ(r.comparisons[0].against, "baseline");
  EXPECT_NEAR(r.comparisons[0].value, 2, 1e-12);
  EXPECT_EQ(champions_to_race(results[{0, 1}]), (std::vector<std::string>{"", "f"}));
}

TEST(AblationResults, OnlyDistinctChampionsAreRaced) {
  AblationSeed seed{.runs = {{"full", run("full", "f")}, {"tuner", run("tuner", "f")}},
                    .race = std::nullopt};
  EXPECT_EQ(champions_to_race(seed).size(), 1u);
  seed.runs["random"] = run("random", "");
  EXPECT_EQ(champions_to_race(seed), (std::vector<std::string>{"", "f"}));
}

TEST(AblationFiles, PlansRunsAndRacesReadAsTheyWereWritten) {
  AblationPlan plan = two_tasks({"full", "random"});
  plan.options.sessions = 2, plan.options.limits.wall_factor = 3;
  plan.tasks[1].workloads[0].medoid = false;
  const Result<AblationPlan> again = decode_ablation_plan(encode_ablation_plan(plan), "plan.json");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(encode_ablation_plan(*again), encode_ablation_plan(plan));
  const ArmRun one = run("full", "f");
  const Result<ArmRun> run_again = decode_arm_run(encode_arm_run(one), "run.json");
  ASSERT_TRUE(run_again);
  EXPECT_EQ(encode_arm_run(*run_again), encode_arm_run(one));
  const ChampionRace raced = race({{"f", 20.5}, {"t", 40}});
  const Result<ChampionRace> race_again =
      decode_champion_race(encode_champion_race(raced), "race.json");
  ASSERT_TRUE(race_again) << race_again.error().text();
  EXPECT_EQ(race_again->rounds, raced.rounds);
  EXPECT_TRUE(decode_champion_race(encode_champion_race({}), "race.json"));
}

TEST(AblationFiles, DamagedOnesAreErrors) {
  EXPECT_FALSE(decode_ablation_plan("{}", "plan.json"));
  EXPECT_FALSE(decode_ablation_plan("[", "plan.json"));
  EXPECT_FALSE(decode_arm_run(R"({"schema": "kernwright.ablation-run/2", "arm": "full"})", "r"));
  EXPECT_FALSE(decode_arm_run(R"({"schema": "kernwright.ablation-run/1"})", "r"));
  ChampionRace raced = race({{"f", 20}});
  raced.rounds[3][0].pop_back();
  EXPECT_FALSE(decode_champion_race(encode_champion_race(raced), "race.json"));
  raced = race({{"f", -1}});
  EXPECT_FALSE(decode_champion_race(encode_champion_race(raced), "race.json"));
  raced = race({{"f", 20}});
  raced.weights.clear();
  EXPECT_FALSE(decode_champion_race(encode_champion_race(raced), "race.json"));
}

} // namespace
} // namespace kw
