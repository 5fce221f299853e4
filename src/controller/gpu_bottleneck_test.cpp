// SPDX-License-Identifier: Apache-2.0
#include "controller/bottleneck.hpp"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace kw {
namespace {

std::string word(const std::vector<std::pair<const char*, double>>& figures) {
  Profile p;
  for (const auto& [name, value] : figures)
    p.figures.push_back({name, value, "", "test", 1});
  return classify_gpu(p).word;
}

TEST(GpuBottleneck, CeilingsComeBeforeWaves) {
  EXPECT_EQ(word({{"sm_share", 0.8}, {"memory_share", 0.3}, {"waves_per_sm", 0.5}}), "compute");
  EXPECT_EQ(word({{"sm_share", 0.3}, {"memory_share", 0.4}, {"dram_share", 0.7}}), "memory");
  EXPECT_EQ(word({{"sm_share", 0.7}, {"memory_share", 0.8}}), "mixed");
  EXPECT_EQ(word({{"sm_share", 0.62}, {"memory_share", 0.9}}), "memory");
  EXPECT_EQ(word({{"sm_share", 0.9}, {"idle_share", 0.4}}), "launch") << "most of all: no work";
}

TEST(GpuBottleneck, WavesThenLatencyThenNothing) {
  for (const auto& [waves, expected] :
       {std::pair{0.99, "tail"}, std::pair{1.0, "latency"}, std::pair{1.1, "tail"},
        std::pair{1.9, "latency"}, std::pair{2.1, "tail"}, std::pair{5.1, "latency"}})
    EXPECT_EQ(word({{"sm_share", 0.3}, {"memory_share", 0.3}, {"waves_per_sm", waves}}), expected)
        << waves;
  EXPECT_EQ(word({{"blocks_per_sm", 0.5}}), "tail");
  EXPECT_EQ(word({{"blocks_per_sm", 1}, {"sm_share", 0.2}}), "unknown") << "memory not known";
  EXPECT_EQ(word({}), "unknown");
}

} // namespace
} // namespace kw
