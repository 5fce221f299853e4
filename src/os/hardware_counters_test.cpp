// SPDX-License-Identifier: Apache-2.0
#include "os/hardware_counters.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kw {
namespace {

TEST(HardwareCounters, EventsThatTookTurnsAreScaled) {
  EXPECT_EQ((CounterReading{.count = 7, .enabled_ns = 100, .running_ns = 0}).scaled(),
            std::nullopt);
  EXPECT_DOUBLE_EQ(
      (CounterReading{.count = 7, .enabled_ns = 100, .running_ns = 100}).scaled().value(), 7);
  EXPECT_DOUBLE_EQ(
      (CounterReading{.count = 7, .enabled_ns = 100, .running_ns = 25}).scaled().value(), 28);
}

TEST(HardwareCounters, CountOrSayWhyNot) {
  const Result<HardwareCounters> counters = HardwareCounters::open(::getpid());
  if (!counters) {
    EXPECT_EQ(counters.error().kind, ErrorKind::unsupported);
    EXPECT_FALSE(counters.error().message.empty());
    EXPECT_FALSE(counters.error().remedy.empty());
    return;
  }
  volatile double x = 1;
  for (int i = 0; i < 100'000; ++i)
    x = x * 1.0000001;
  const HardwareCounts counts = counters->read();
  ASSERT_TRUE(counts.cycles);
  EXPECT_GT(*counts.cycles, 10'000);
}

} // namespace
} // namespace kw
