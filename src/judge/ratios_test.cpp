// SPDX-License-Identifier: Apache-2.0
#include "judge/ratios.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<BoundWorkload> two_workloads() {
  std::vector<BoundWorkload> out(2);
  out[0].workload.uuid = "small";
  out[0].timing_weight = 1;
  out[1].workload.uuid = "large";
  out[1].timing_weight = 3;
  return out;
}

RoundOutcome round_of(std::vector<RoundTimes> times) {
  RoundOutcome out;
  out.times = std::move(times);
  return out;
}

TEST(Ratios, PositiveWhereTheCandidateIsFaster) {
  EXPECT_DOUBLE_EQ(log_ratio({.workload = 0, .ns = {200, 100}}), std::log(2.0));
  EXPECT_DOUBLE_EQ(log_ratio({.workload = 0, .ns = {100, 200}}), -std::log(2.0));
}

TEST(Ratios, WorkloadsCountByWeight) {
  const RoundOutcome outcome = round_of({{0, {100, 100}}, {1, {200, 100}}});
  EXPECT_DOUBLE_EQ(combined_ratio(outcome, two_workloads(), Objective::weighted),
                   0.75 * std::log(2.0));
}

TEST(Ratios, OnlyTimedWorkloadsCount) {
  const RoundOutcome outcome = round_of({{1, {200, 100}}});
  EXPECT_DOUBLE_EQ(combined_ratio(outcome, two_workloads(), Objective::weighted), std::log(2.0));
}

TEST(Ratios, RoundsGatherPerWorkloadAndBaseline) {
  std::vector<PairedTiming> all;
  append_round(all, round_of({{0, {100, 50}}, {1, {10, 20}}}), two_workloads(), "plain");
  append_round(all, round_of({{0, {120, 40}}}), two_workloads(), "plain");
  append_round(all, round_of({{0, {80, 50}}}), two_workloads(), "peer");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].uuid, "small");
  EXPECT_THAT(all[0].baseline_ns, ElementsAre(100, 120));
  EXPECT_THAT(all[0].candidate_ns, ElementsAre(50, 40));
  EXPECT_THAT(all[0].log_ratios,
              ElementsAre(DoubleNear(std::log(2.0), 1e-12), DoubleNear(std::log(3.0), 1e-12)));
  EXPECT_EQ(all[2].baseline, "peer");
}

TEST(Ratios, SummaryHoldsTheMedianWithinItsInterval) {
  PairedTiming timing;
  for (int i = 0; i < 21; ++i)
    timing.log_ratios.push_back(std::log(1.5) + 0.001 * (i - 10));
  std::vector<PairedTiming> all{timing};
  summarise(all);
  EXPECT_NEAR(all[0].speedup, 1.5, 1e-9);
  EXPECT_LT(all[0].low, 1.5);
  EXPECT_GT(all[0].high, 1.5);
  EXPECT_GT(all[0].low, 1.48);
}

TEST(Ratios, ATrendIsDriftAndNoiseIsNot) {
  std::vector<double> trend, noise;
  for (int i = 0; i < 20; ++i) {
    trend.push_back(0.01 * i);
    noise.push_back(0.01 * (i * 7 % 20));
  }
  EXPECT_TRUE(is_drifting(trend));
  EXPECT_FALSE(is_drifting(noise));
  trend.resize(15);
  EXPECT_FALSE(is_drifting(trend)); // too few rounds to tell
}

GateReading reading(GateDecision decision, double ratio) {
  GateReading out;
  out.decision = decision;
  for (int i = 0; i < 20; ++i)
    out.ratios.push_back(ratio + 1e-3 * (i * 7 % 20));
  out.baseline = "plain";
  out.min_effect = 0.02;
  return out;
}

TEST(Merit, TheGateDecides) {
  const AxisVerdict faster = merit_of(reading(GateDecision::faster, 0.4));
  EXPECT_EQ(faster.outcome, Outcome::pass);
  EXPECT_THAT(faster.summary, HasSubstr("faster than `plain` by more than 2 %"));
  EXPECT_EQ(merit_of(reading(GateDecision::not_faster, 0)).outcome, Outcome::fail);
  const AxisVerdict undecided = merit_of(reading(GateDecision::undecided, 0.02));
  EXPECT_EQ(undecided.outcome, Outcome::unknown);
  EXPECT_THAT(undecided.summary, HasSubstr("undecided after 20 rounds"));
}

TEST(Merit, ALostWorkloadFailsEvenAWinner) {
  GateReading winner = reading(GateDecision::faster, 0.4);
  winner.loser = "rows=1";
  const AxisVerdict merit = merit_of(winner);
  EXPECT_EQ(merit.outcome, Outcome::fail);
  EXPECT_THAT(merit.summary, HasSubstr("on rows=1"));
}

TEST(Merit, ADriftingRatioCannotWin) {
  GateReading drifting = reading(GateDecision::faster, 0.4);
  for (std::size_t i = 0; i < drifting.ratios.size(); ++i)
    drifting.ratios[i] = 0.4 + 0.01 * static_cast<double>(i);
  const AxisVerdict merit = merit_of(drifting);
  EXPECT_EQ(merit.outcome, Outcome::unknown);
  EXPECT_THAT(merit.summary, HasSubstr("drifted"));
}

} // namespace
} // namespace kw
