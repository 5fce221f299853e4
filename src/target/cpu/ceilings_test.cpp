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

TEST(Ceilings, LevelsAndColdCaches) {
  Ceilings c;
  c.fma_f32_1 = 1e15;
  c.bandwidth = {{.level = "L1", .footprint = 500, .reads = 1, .writes = 0, .plain_1 = 1e12},
                 {.level = "L2", .footprint = 5000, .reads = 1, .writes = 0, .plain_1 = 1e11},
                 {.level = "memory", .footprint = 50000, .reads = 1, .writes = 0, .plain_1 = 1e10}};
  EXPECT_EQ(c.level_of(1000, 1), "L1");
  EXPECT_EQ(c.level_of(1001, 1), "L2");
  EXPECT_EQ(c.level_of(1001, 2), "L1") << "each thread has one";
  EXPECT_EQ(c.level_of(10001, 1), "DRAM");
  EXPECT_EQ(Ceilings{}.level_of(1, 1), "DRAM");
  EXPECT_DOUBLE_EQ(c.cold_transfer_ns(1000, 0, 1), 100);
  EXPECT_EQ(c.cold_transfer_ns(0, 0, 1), 0);
  EXPECT_EQ(Ceilings{}.cold_transfer_ns(1000, 0, 1), 0);
}

TEST(Ceilings, BestOfTwoMeasurements) {
  const Ceilings best = best_of(of(1e10, 1e10), of(1e11, 1e11));
  EXPECT_DOUBLE_EQ(best.floor_ns(1e9, 8, 0, 1), 1e7);
}

} // namespace
} // namespace kw
