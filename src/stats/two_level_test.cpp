// SPDX-License-Identifier: Apache-2.0
#include "stats/two_level.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace kw {
namespace {

using Logs = std::vector<std::vector<double>>;

TEST(TwoLevelMean, OneGroupOfOneMemberIsItselfWithoutWidth) {
  const TwoLevelMean m = two_level_mean(Logs{{std::log(1.25)}}, 1);
  EXPECT_NEAR(m.value, 1.25, 1e-12);
  EXPECT_NEAR(m.low, 1.25, 1e-12);
  EXPECT_NEAR(m.high, 1.25, 1e-12);
  EXPECT_NEAR(m.lower_bound, 1.25, 1e-12);
  EXPECT_EQ(m.groups, 1u);
  EXPECT_EQ(m.members, 1u);
}

TEST(TwoLevelMean, GroupsCountTheSameWhateverTheirSize) {
  // (ln 2 + (ln 1 + ln 1 + ln 8) / 3) / 2 = (ln 2 + ln 2) / 2.
  const TwoLevelMean m = two_level_mean(Logs{{std::log(2)}, {0, 0, std::log(8)}}, 1);
  EXPECT_NEAR(m.value, 2, 1e-12);
  EXPECT_EQ(m.members, 4u);
}

// Five groups without any spread inside, one of them off: a resampled mean is k/5 ln 32 = k ln 2
// with k ~ Bin(5, 1/5): P(k = 0) = 0.328, P(k <= 2) = 0.942, P(k <= 3) = 0.993.
TEST(TwoLevelMean, GroupsAreResampled) {
  const double off = std::log(32);
  const TwoLevelMean m = two_level_mean(Logs{{0}, {0}, {0}, {0}, {off}}, 7);
  EXPECT_NEAR(m.value, 2, 1e-12);
  EXPECT_NEAR(m.low, 1, 1e-9);
  EXPECT_NEAR(m.high, 8, 1e-9);
  EXPECT_NEAR(m.lower_bound, 1, 1e-9);
}

// One group of four members 0, 0, 0, ln 16: the same with k ~ Bin(4, 1/4): a mean of k ln 2.
// P(k <= 2) = 0.949, P(k <= 3) = 0.996.
TEST(TwoLevelMean, MembersAreResampledWithinTheirGroup) {
  const TwoLevelMean m = two_level_mean(Logs{{0, 0, 0, std::log(16)}}, 7);
  EXPECT_NEAR(m.value, 2, 1e-12);
  EXPECT_NEAR(m.low, 1, 1e-9);
  EXPECT_NEAR(m.high, 8, 1e-9);
}

// Fifty repetitions of each of two groups are still two groups: the resampled mean is 0, ln 2 or
// 2 ln 2 with chances 1/4, 1/2, 1/4. Taken as a hundred independent values the interval would be
// [1.74, 2.30].
TEST(TwoLevelMean, ManySeedsDoNotReplaceOperators) {
  const Logs logs{std::vector<double>(50, 0.0), std::vector<double>(50, std::log(4))};
  const TwoLevelMean m = two_level_mean(logs, 3);
  EXPECT_NEAR(m.value, 2, 1e-12);
  EXPECT_NEAR(m.low, 1, 1e-9);
  EXPECT_NEAR(m.high, 4, 1e-9);
  EXPECT_NEAR(m.lower_bound, 1, 1e-9);
}

// A resampled mean of ten groups 0 and ten groups ln 4 is k/20 ln 4 with k ~ Bin(20, 1/2):
// P(k <= 5) = 0.0207, P(k <= 6) = 0.0577; P(k <= 14) = 0.9793. So the 2.5 % point is at k = 6, the
// 5 % point at k = 6 too, the 97.5 % point at k = 14.
TEST(TwoLevelMean, TheOneSidedBoundLeavesTheWholeTailBelow) {
  Logs logs(20, {0.0});
  for (std::size_t g = 10; g < 20; ++g)
    logs[g] = {std::log(4)};
  const TwoLevelMean m = two_level_mean(logs, 11, 0.95, 100'000);
  EXPECT_NEAR(m.low, std::exp2(0.6), 1e-9);
  EXPECT_NEAR(m.high, std::exp2(1.4), 1e-9);
  EXPECT_NEAR(m.lower_bound, std::exp2(0.6), 1e-9);
  // At 80 %: two-sided from the 10 % point, k = 7 (P(k <= 6) = 0.0577, P(k <= 7) = 0.1316);
  // one-sided the 20 % point, k = 8 (P(k <= 8) = 0.2517).
  const TwoLevelMean wide = two_level_mean(logs, 11, 0.8, 100'000);
  EXPECT_NEAR(wide.low, std::exp2(0.7), 1e-9);
  EXPECT_NEAR(wide.lower_bound, std::exp2(0.8), 1e-9);
}

TEST(TwoLevelMean, EmptyGroupsAreLeftOutAndNothingIsNotANumber) {
  EXPECT_EQ(two_level_mean(Logs{{}, {0.5}}, 1).groups, 1u);
  EXPECT_TRUE(std::isnan(two_level_mean(Logs{{}, {}}, 1).value));
  EXPECT_TRUE(std::isnan(two_level_mean(Logs{}, 1).lower_bound));
}

TEST(TwoLevelMean, TheSameSeedGivesTheSameInterval) {
  Logs logs(6);
  for (std::size_t i = 0; i < 42; ++i)
    logs[i % 6].push_back(std::sin(static_cast<double>(i * i)));
  EXPECT_EQ(two_level_mean(logs, 5).low, two_level_mean(logs, 5).low);
  EXPECT_NE(two_level_mean(logs, 5).low, two_level_mean(logs, 6).low);
}

} // namespace
} // namespace kw
