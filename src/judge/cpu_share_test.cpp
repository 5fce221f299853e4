// SPDX-License-Identifier: Apache-2.0
#include "judge/cpu_share.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(CpuShare, DeclaredThreadsMayBeUsedInFull) {
  EXPECT_FALSE(exceeds_threads(std::vector<double>(20, 1.0), 1));
  EXPECT_FALSE(exceeds_threads(std::vector<double>(20, 2.0), 2));
}

TEST(CpuShare, AHiddenThreadShows) {
  EXPECT_TRUE(exceeds_threads(std::vector<double>(8, 1.9), 1));
  EXPECT_TRUE(exceeds_threads(std::vector<double>(8, 2.8), 2));
  EXPECT_TRUE(exceeds_threads(std::vector<double>(8, 1.06), 1));
}

TEST(CpuShare, FewOrSingleRoundsAreNoEvidence) {
  EXPECT_FALSE(exceeds_threads({}, 1));
  EXPECT_FALSE(exceeds_threads(std::vector<double>(5, 3.0), 1));
  EXPECT_FALSE(exceeds_threads({1, 1, 9, 1, 1, 9, 1}, 1)); // two outliers of seven
}

} // namespace
} // namespace kw
