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

TEST(Windows, ADoorbellThatIsSleptOnHandsTheCpuOver) {
  EXPECT_FALSE(is_disturbed(8, 0, 0));
  EXPECT_TRUE(is_disturbed(9, 0, 0));
  EXPECT_FALSE(is_disturbed(208, 100, 0));
  EXPECT_TRUE(is_disturbed(209, 100, 0));
}

TEST(Windows, LongRoundsMeetMoreOfTheSystemsOwnWork) {
  EXPECT_FALSE(is_disturbed(350, 12, 8)); // as measured, idle: GEMM of a 7B transformer
  EXPECT_TRUE(is_disturbed(900, 12, 8));
}

} // namespace
} // namespace kw
