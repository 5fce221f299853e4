// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/ceilings.hpp"

#include "os/cpu.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

Ceilings of(double one, double each_of_all) {
  const double all = each_of_all * cpu_info().online;
  Ceilings c;
  c.fma_f32_1 = c.fma_f32_256_1 = one, c.fma_f32_all = c.fma_f32_256_all = all;
  c.bandwidth = {{.level = "L1",
                  .footprint = 16 << 10,
                  .reads = 1,
                  .writes = 0,
                  .plain_1 = one,
                  .plain_all = all}};
  return c;
}

TEST(Ceilings, FloorIsTheSlowerOfArithmeticAndTraffic) {
  const Ceilings c = of(1e11, 1e11);
  EXPECT_DOUBLE_EQ(c.floor_ns(1e9, 8, 0, 1), 1e7);
  EXPECT_DOUBLE_EQ(c.floor_ns(1, 1e4, 0, 1), 100);
  EXPECT_EQ(Ceilings{}.floor_ns(1e9, 8, 8, 1), 0);
}

// Something else ran while one thread was measured: what all threads did together shows more.
TEST(Ceilings, ADisturbedFigureDoesNotRaiseTheFloor) {
  const Ceilings disturbed = of(1e10, 1e11);
  EXPECT_DOUBLE_EQ(disturbed.floor_ns(1e9, 8, 0, 1), 1e7);
  EXPECT_DOUBLE_EQ(disturbed.floor_ns(1, 1e4, 0, 1), 100);
}

// A little more than a cache level holds costs a little more time, not the next level's for all of
// it.
TEST(Ceilings, TrafficIsSharedByTheLevels) {
  Ceilings c;
  c.fma_f32_1 = 1e15;
  c.bandwidth = {{.level = "L1", .footprint = 500, .reads = 1, .writes = 0, .plain_1 = 1e12},
                 {.level = "L2", .footprint = 5000, .reads = 1, .writes = 0, .plain_1 = 1e11},
                 {.level = "memory", .footprint = 50000, .reads = 1, .writes = 0, .plain_1 = 1e10}};
  EXPECT_DOUBLE_EQ(c.floor_ns(0, 1000, 0, 1), 1);
  EXPECT_DOUBLE_EQ(c.floor_ns(0, 1100, 0, 1), 1 + 1);
  EXPECT_DOUBLE_EQ(c.floor_ns(0, 10000, 0, 1), 1 + 90);
  EXPECT_DOUBLE_EQ(c.floor_ns(0, 1e6, 0, 1), 1 + 90 + 99000);
}

TEST(Ceilings, BestOfTwoMeasurements) {
  const Ceilings best = best_of(of(1e10, 1e10), of(1e11, 1e11));
  EXPECT_DOUBLE_EQ(best.floor_ns(1e9, 8, 0, 1), 1e7);
}

} // namespace
} // namespace kw
