// SPDX-License-Identifier: Apache-2.0
#include "stats/aggregate.hpp"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace kw {
namespace {

TEST(Aggregate, TheMeansDisagreeAndAreToldApart) {
  // One slow workload that is not improved, one fast one that is 10 times faster.
  const std::array<TimePair, 2> pairs{TimePair{1000, 1000, 3}, TimePair{10, 1, 1}};
  const Aggregates a = aggregate(pairs);
  EXPECT_DOUBLE_EQ(a.mean_baseline, 505);
  EXPECT_DOUBLE_EQ(a.mean_candidate, 500.5);
  EXPECT_NEAR(a.ratio_of_means, 1.009, 1e-3);
  EXPECT_DOUBLE_EQ(a.mean_of_ratios, 5.5);
  EXPECT_NEAR(a.geomean, 3.1623, 1e-4);
  EXPECT_NEAR(a.weighted_geomean, 1.7783, 1e-4);
}

TEST(Aggregate, TheTailIsTheNearestRank) {
  std::vector<TimePair> pairs;
  for (int i = 1; i <= 20; ++i)
    pairs.push_back({static_cast<double>(2 * i), static_cast<double>(i), 1});
  EXPECT_EQ(aggregate(pairs).p95_baseline, 38);
  EXPECT_EQ(aggregate(pairs).p95_candidate, 19);
  pairs.resize(1);
  EXPECT_EQ(aggregate(pairs).p95_candidate, 1);
}

TEST(Aggregate, NothingGivesNothingAndNoWeightCountsAsEqual) {
  EXPECT_EQ(aggregate({}).geomean, 0);
  const std::array<TimePair, 2> pairs{TimePair{4, 1, 0}, TimePair{1, 1, 0}};
  EXPECT_DOUBLE_EQ(aggregate(pairs).weighted_geomean, 2);
}

} // namespace
} // namespace kw
