// SPDX-License-Identifier: Apache-2.0
#include "stats/objective.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Objective, NamesGoBothWays) {
  for (const std::string& text : objective_names()) {
    ASSERT_TRUE(objective_from_name(text)) << text;
    EXPECT_EQ(name(*objective_from_name(text)), text);
  }
  EXPECT_FALSE(objective_from_name("fastest"));
}

TEST(Objective, EachIsItsOwnAggregate) {
  // Ratios 4 and 1; the second workload stands for three.
  const TimePair pairs[] = {{.baseline = 8, .candidate = 2, .weight = 3},
                            {.baseline = 100, .candidate = 100, .weight = 1, .count = 3}};
  const auto speedup = [&](Objective o) { return std::exp(log_speedup(o, pairs)); };
  EXPECT_NEAR(speedup(Objective::weighted), std::pow(4.0, 0.75), 1e-12);
  EXPECT_NEAR(speedup(Objective::geomean), std::pow(4.0, 0.25), 1e-12);
  EXPECT_NEAR(speedup(Objective::mean_latency), 308.0 / 302, 1e-12);
  EXPECT_NEAR(speedup(Objective::mean_of_ratios), 7.0 / 4, 1e-12);
  EXPECT_NEAR(speedup(Objective::contest), 7.0 / 4, 1e-12);
  EXPECT_NEAR(speedup(Objective::p95), 1, 1e-12);
}

TEST(Objective, TheNinetyFifthPercentileCountsEveryWorkload) {
  const TimePair pairs[] = {{.baseline = 1, .candidate = 1, .count = 95},
                            {.baseline = 50, .candidate = 10, .count = 5}};
  EXPECT_NEAR(log_speedup(Objective::p95, pairs), 0, 1e-12) << "rank 95 of 100";
  const TimePair more[] = {{.baseline = 1, .candidate = 1, .count = 94},
                           {.baseline = 50, .candidate = 10, .count = 6}};
  EXPECT_NEAR(log_speedup(Objective::p95, more), std::log(5), 1e-12);
}

} // namespace
} // namespace kw
