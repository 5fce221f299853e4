// SPDX-License-Identifier: Apache-2.0
#include "controller/dispatch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;

TEST(BorderValues, AreSpacedByRatioAndNeverAtTheEnds) {
  EXPECT_THAT(border_values(1, 64, 5), ElementsAre(2, 4, 8, 16, 32));
  EXPECT_THAT(border_values(2, 5, 5), ElementsAre(3, 4));
  EXPECT_THAT(border_values(4, 5, 5), ElementsAre());
}

TEST(PlaceBorder, WhereTheHigherKernelBeginsToBeFaster) {
  const std::vector<BorderPoint> points = {{2, -0.3}, {4, -0.1}, {8, 0.2}, {16, 0.4}};
  EXPECT_EQ(place_border(1, 32, 5, points), 5); // sqrt(4 * 8)
  EXPECT_EQ(place_border(1, 32, 5, {}), 5) << "nothing measured";
}

TEST(PlaceBorder, OneKernelMayTakeAllBetween) {
  EXPECT_EQ(place_border(1, 32, 5, {{4, 0.1}, {8, 0.2}}), 2);    // sqrt(1 * 4): up to there 1 knows
  EXPECT_EQ(place_border(1, 32, 5, {{4, -0.1}, {8, -0.2}}), 16); // sqrt(8 * 32)
  EXPECT_EQ(place_border(1, 3, 1, {{2, 0.1}}), 1) << "2 belongs to the higher one";
  EXPECT_EQ(place_border(1, 3, 1, {{2, -0.1}}), 2);
}

TEST(PlaceBorder, ANoisyPointDoesNotDecide) {
  EXPECT_EQ(place_border(1, 64, 8, {{2, -0.3}, {4, 0.05}, {8, -0.3}, {16, 0.2}, {32, 0.4}}), 11);
}

TEST(PlaceBorder, HeldOutPointsDoNotCount) {
  EXPECT_EQ(place_border(1, 32, 5, {{2, -0.3}, {4, 9, true}, {8, 0.2}}), 4);
}

} // namespace
} // namespace kw
