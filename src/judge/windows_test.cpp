// SPDX-License-Identifier: Apache-2.0
#include "judge/windows.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace kw {
namespace {

constexpr WindowLimits limits{.least_ns = 3e6, .windows = 3, .most_calls = 160};

TEST(Windows, TheBaselineFillsAWindow) {
  const WindowPlan plan = plan_windows(1e5, 0, 1, limits);
  EXPECT_EQ(plan.calls, 30);
  EXPECT_EQ(plan.windows, 3);
  EXPECT_EQ(plan_windows(1.1e5, 0, 1, limits).calls, 28); // rounded up: never shorter than asked
}

TEST(Windows, AFastCandidateRaisesCallsFourTimesAtMost) {
  EXPECT_EQ(plan_windows(1e6, 5e5, 1, limits).calls, 6);
  EXPECT_EQ(plan_windows(1e6, 1e3, 1, limits).calls, 12);
}

TEST(Windows, ASlowCandidateCannotLowerThem) {
  EXPECT_EQ(plan_windows(1e5, 1e9, 1, limits).calls, 30);
}

TEST(Windows, CallsAreBounded) {
  EXPECT_EQ(plan_windows(5e3, 5e3, 1, limits).calls, 160);
  EXPECT_EQ(plan_windows(0, 0, 1, limits).calls, 160);
  EXPECT_EQ(plan_windows(1e9, 0, 1, limits).calls, 1);
  EXPECT_EQ(plan_windows(1, 0, 1, {.least_ns = std::numeric_limits<double>::max()}).calls, 160);
}

TEST(Windows, LongCallsAndManyWorkloadsGetOneWindow) {
  EXPECT_EQ(plan_windows(2.4e7, 0, 1, limits).windows, 3);
  EXPECT_EQ(plan_windows(2.5e7, 0, 1, limits).windows, 1);
  EXPECT_EQ(plan_windows(1e5, 0, 4, limits).windows, 3);
  EXPECT_EQ(plan_windows(1e5, 0, 5, limits).windows, 1);
}

TEST(Windows, ARoundIsDisturbedWhereItsThreadsWaitForACpu) {
  EXPECT_FALSE(is_disturbed(0, 0, 0));
  EXPECT_FALSE(is_disturbed(0.0006, 0, 0.123)); // as measured, idle
  EXPECT_FALSE(is_disturbed(0.049, 0, 1));
  EXPECT_TRUE(is_disturbed(0.051, 0, 1));
  EXPECT_TRUE(is_disturbed(0.15, 0, 0.39)); // as measured, a compiler beside it
}

TEST(Windows, WakingUpIsNoDisturbance) {
  EXPECT_FALSE(is_disturbed(0.0049, 100, 0));
  EXPECT_TRUE(is_disturbed(0.0051, 100, 0));
}

} // namespace
} // namespace kw
