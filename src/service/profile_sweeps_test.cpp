// SPDX-License-Identifier: Apache-2.0
#include "service/profile_sweeps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;

TEST(ProfileSweeps, FootprintsLieWithinAndBeyondEachCache) {
  constexpr double k = 1024, m = 1024 * k;
  EXPECT_THAT(sweep_footprints(48 << 10, 2 << 20, 8 << 20),
              ElementsAre(24 * k, 96 * k, 0.5 * m, 1 * m, 4 * m, 16 * m, 64 * m));
  EXPECT_THAT(sweep_footprints(32 << 10, 0, 0), ElementsAre(16 * k, 64 * k, 64 * m));
  EXPECT_THAT(sweep_footprints(48 << 10, 2 << 20, std::size_t{480} << 20),
              ElementsAre(24 * k, 96 * k, 0.5 * m, 1 * m, 4 * m, 16 * m, 64 * m))
      << "a cache larger than the sweep may be";
}

TEST(ProfileSweeps, ThreadsDouble) {
  EXPECT_THAT(thread_counts(1), ElementsAre(1));
  EXPECT_THAT(thread_counts(2), ElementsAre(1, 2));
  EXPECT_THAT(thread_counts(12), ElementsAre(1, 2, 4, 8, 12));
}

} // namespace
} // namespace kw
