// SPDX-License-Identifier: Apache-2.0
#include "controller/bottleneck.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::Contains;
using testing::HasSubstr;

Profile with(double call_ns, double flops, double bytes) {
  Profile p;
  p.figures = {{"call", call_ns, "ns", "judge", 0.9},
               {"flop_share", flops, "", "judge, ceilings", 0.9},
               {"bandwidth_share", bytes, "", "judge, ceilings", 0.9}};
  return p;
}

/// A hot loop that nothing is wrong with.
ObjectLoop good_loop() {
  ObjectLoop l;
  l.vector_bits = 512, l.packed = 16, l.fma = 16, l.accumulators = 12;
  l.hot = true, l.confidence = 0.9;
  return l;
}

TEST(Bottleneck, CeilingsComeFirst) {
  EXPECT_EQ(classify(with(1e6, 0.85, 0.1)).word, "compute");
  EXPECT_EQ(classify(with(1e6, 0.1, 0.7)).word, "memory");
  EXPECT_EQ(classify(with(1e6, 0.7, 0.8)).word, "mixed");
  EXPECT_NEAR(classify(with(1e6, 0.1, 0.8)).headroom, 1.25, 1e-9);
  const BottleneckState s = classify(with(3000, 0.1, 0.9));
  EXPECT_EQ(s.word, "launch") << "a call of 3 us";
  EXPECT_THAT(s.evidence, Contains(HasSubstr("3.0 us")));
}

TEST(Bottleneck, ScalarLoopsWithTheCompilersReason) {
  Profile p = with(1e6, 0.01, 0.05);
  p.loops = {good_loop()};
  p.loops[0].packed = 0, p.loops[0].scalar = 1, p.loops[0].accumulators = 1;
  p.remarks = {{"k.cpp", 8, false, "reduction_order", "cannot reorder", "clang"},
               {"k.cpp", 20, true, "vectorized", "vectorized loop", "clang"}};
  const BottleneckState s = classify(p);
  EXPECT_EQ(s.word, "vectorisation");
  EXPECT_NEAR(s.confidence, 0.9 * 0.9, 1e-9);
  EXPECT_THAT(s.evidence, Contains("k.cpp:8: cannot reorder"));
  EXPECT_THAT(s.next, Contains(HasSubstr("several sums side by side")));
}

TEST(Bottleneck, ACallInTheLoopAndAnOrderThatForbidsVectors) {
  Profile p = with(1e6, 0.1, 0.1);
  p.loops = {good_loop()};
  p.loops[0].calls = 1;
  EXPECT_EQ(classify(p).word, "vectorisation");
  EXPECT_THAT(classify(p).next, Contains(HasSubstr("polynomial")));
  p.loops[0].calls = 0;
  p.figures.push_back({"fast_math", 0.13, "of the time", "variant build", 0.8});
  EXPECT_EQ(classify(p).word, "vectorisation");
  EXPECT_THAT(classify(p).evidence, Contains(HasSubstr("0.13 of the time")));
}

TEST(Bottleneck, ChainsDividesAndGathers) {
  Profile p = with(1e6, 0.2, 0.2);
  p.loops = {good_loop()};
  p.loops[0].accumulators = 1;
  EXPECT_EQ(classify(p).word, "dependency");
  p.loops[0].divides = 2;
  EXPECT_EQ(classify(p).word, "compute") << "the divider is busy";
  p.loops[0].divides = 0, p.loops[0].gathers = 1;
  EXPECT_EQ(classify(p).word, "latency");
}

TEST(Bottleneck, SumsInMemory) {
  Profile p = with(1e6, 0.2, 0.2);
  p.loops = {good_loop()};
  p.loops[0].packed = p.loops[0].fma = 4, p.loops[0].accumulators = 0;
  p.loops[0].loads = 8, p.loops[0].stores = 4;
  EXPECT_EQ(classify(p).word, "load_store");
}

TEST(Bottleneck, LoopsCountByTheirSamples) {
  Profile p = with(1e6, 0.2, 0.2);
  p.loops = {good_loop(), good_loop(), good_loop()};
  p.loops[0].accumulators = 1, p.loops[0].share = 0.3;
  p.loops[1].accumulators = 2, p.loops[1].share = 0.25;
  p.loops[2].divides = 4, p.loops[2].share = 0.4;
  const BottleneckState s = classify(p);
  EXPECT_EQ(s.word, "dependency") << "two loops of one kind outweigh the hottest";
  EXPECT_NEAR(s.confidence, 0.8 * 0.55, 1e-9);
  EXPECT_EQ(s.evidence.size(), 3u);
  EXPECT_EQ(s.next.size(), 1u);
}

PipelineEstimate model(double cycles, double throughput) {
  return {.model = "m", .cycles = cycles, .throughput = throughput, .port = "port0"};
}

TEST(Bottleneck, TheModelTellsChainsFromBusyUnits) {
  Profile p = with(1e6, 0.2, 0.1);
  p.loops = {good_loop()};
  p.loops[0].branches = 1;
  p.loops[0].pipeline = {model(4, 1)};
  EXPECT_EQ(classify(p).word, "dependency");
  EXPECT_THAT(classify(p).evidence, Contains(HasSubstr("4.0 cycles a turn by the model, 1.0 if")));
  p.loops[0].divides = 4;
  EXPECT_EQ(classify(p).word, "dependency") << "divisions that wait for each other";
  p.loops[0].pipeline = {model(16, 16), model(8, 8)};
  p.loops[0].divides = 0;
  EXPECT_EQ(classify(p).word, "compute");
  EXPECT_THAT(classify(p).evidence, Contains(HasSubstr("keeps port0 busy by the model: 8.0")));
  p.loops[0].accumulators = 1;
  EXPECT_EQ(classify(p).word, "compute") << "the model knows better than a count of registers";
  p.loops[0].pipeline = {model(4, 4), model(4, 2)};
  EXPECT_EQ(classify(p).word, "dependency") << "one model lacks a unit that the other has";
  p.loops[0].branches = 3;
  EXPECT_NE(classify(p).word, "dependency") << "straight-line code is all a model knows";
  p = with(1e6, 0.2, 0.4);
  p.loops = {good_loop()};
  p.loops[0].pipeline = {model(8, 8)};
  EXPECT_EQ(classify(p).word, "unknown") << "bandwidth might explain it as well";
}

TEST(Bottleneck, AChainThatIsASumInOrder) {
  Profile p = with(1e6, 0.01, 0.05);
  p.loops = {good_loop()};
  p.loops[0].packed = 0, p.loops[0].scalar = 1, p.loops[0].branches = 1;
  p.loops[0].file = "k.cpp", p.loops[0].line = 8;
  p.loops[0].pipeline = {model(4, 1)};
  EXPECT_EQ(classify(p).word, "dependency") << "a recurrence";
  p.remarks = {{"k.cpp", 8, false, "reduction_order", "cannot reorder", "clang"}};
  EXPECT_EQ(classify(p).word, "vectorisation");
}

TEST(Bottleneck, LoadsThatWaitForLoads) {
  Profile p = with(1e6, 0.01, 0.05);
  p.loops = {good_loop()};
  p.loops[0].packed = p.loops[0].fma = 0, p.loops[0].chased = 1;
  p.loops[0].pipeline = {model(8, 1)};
  EXPECT_EQ(classify(p).word, "latency");
}

TEST(Bottleneck, MemoryNamesItsLevel) {
  Profile p = with(1e6, 0.1, 0.7);
  p.level = "L3";
  EXPECT_EQ(classify(p).word, "memory");
  EXPECT_EQ(classify(p).level, "L3");
  p.level = "L1";
  EXPECT_EQ(classify(p).word, "load_store") << "nothing else is between the units and L1";
  EXPECT_EQ(classify(p).level, "");
  p = with(1e6, 0.1, 0.4);
  p.level = "L2";
  p.loops = {good_loop()};
  p.loops[0].packed = 1, p.loops[0].accumulators = 0, p.loops[0].loads = 2, p.loops[0].stores = 1;
  EXPECT_EQ(classify(p).word, "memory") << "a loop that does nothing but move";
  EXPECT_EQ(classify(p).level, "L2");
  p.level = "L1";
  EXPECT_EQ(classify(p).word, "load_store");
}

Profile on_threads(double balance, double least, double overhead, double efficiency) {
  Profile p = with(1e6, 0.2, 0.1);
  p.threads = 2;
  for (const auto& [name, value] :
       {std::pair{"thread_balance", balance}, std::pair{"least_thread", least},
        std::pair{"task_overhead", overhead}, std::pair{"thread_efficiency", efficiency}})
    p.figures.push_back({name, value, "", "samples", 0.8});
  return p;
}

TEST(Bottleneck, ThreadsThatWait) {
  EXPECT_EQ(classify(on_threads(0.65, 0.3, 0, 0.6)).word, "tail");
  EXPECT_EQ(classify(on_threads(0.5, 0, 0, 0.5)).word, "threading") << "one takes no part";
  EXPECT_EQ(classify(on_threads(0.97, 0.9, 0.6, 0.4)).word, "launch") << "tasks too small";
  EXPECT_EQ(classify(on_threads(0.7, 0.5, 0.6, 0.4)).word, "launch")
      << "who gets how many tiny tasks is chance";
  EXPECT_EQ(classify(on_threads(0.5, 0, 1, 0.5)).word, "threading")
      << "a helper that finds no task looks for one all the time";
  EXPECT_EQ(classify(on_threads(0.97, 0.9, 0.05, 0.4)).word, "threading") << "no faster than one";
  EXPECT_EQ(classify(on_threads(0.97, 0.9, 0.05, 0.95)).word, "unknown") << "as it should be";
  Profile p = on_threads(0.67, 0.4, 0.05, 0.66);
  p.figures[1].value = 0.68;
  EXPECT_EQ(classify(p).word, "tail") << "two thirds of the FLOP ceiling, and a third idle";
  p = on_threads(0.97, 0.9, 0.05, 0.95);
  p.figures[1].value = 0.9;
  EXPECT_EQ(classify(p).word, "compute");
  p = on_threads(0.97, 0.9, 0.05, 0.95);
  p.loops = {good_loop()};
  p.loops[0].atomics = 1;
  EXPECT_EQ(classify(p).word, "threading");
  p.threads = 1;
  EXPECT_EQ(classify(p).word, "latency");
  p = on_threads(0.97, 0.9, 0.05, 0.5);
  p.figures[2].value = 0.8;
  EXPECT_EQ(classify(p).word, "memory") << "threads share a bandwidth";
}

SweepPoint point(const char* level, double ns, double ns_per_byte) {
  return {.axis = "n", .level = level, .ns = ns, .ns_per_byte = ns_per_byte, .confidence = 0.8};
}

TEST(Bottleneck, CliffsBetweenLevels) {
  EXPECT_TRUE(cache_cliffs({}).empty());
  const std::vector<ProfileFigure> cliffs =
      cache_cliffs({point("L1", 100, 5), point("L2", 6000, 0.10), point("L2", 8000, 0.12),
                    point("L3", 50'000, 0.33), point("L3", 90'000, 0.33), point("DRAM", 9e6, 0.4)});
  ASSERT_EQ(cliffs.size(), 1u) << "calls below 5 us and steps below 1.5 are none";
  EXPECT_EQ(cliffs[0].name, "cliff_L3");
  EXPECT_NEAR(cliffs[0].value, 3, 1e-9);
  EXPECT_EQ(cliffs[0].confidence, 0.8);
  Profile p = with(1e6, 0.1, 0.1);
  p.level = "L3";
  p.figures.push_back(cliffs[0]);
  EXPECT_EQ(classify(p).word, "memory");
  p.level = "L2";
  EXPECT_EQ(classify(p).word, "unknown");
}

TEST(Bottleneck, ALoopThatTakesNextToNoTimeIsNoCause) {
  Profile p = with(1e6, 0.1, 0.1);
  p.loops = {good_loop(), good_loop()};
  p.loops[0].share = 0.95, p.loops[1].share = 0.03;
  p.loops[1].packed = 0, p.loops[1].scalar = 1, p.loops[1].accumulators = 1;
  EXPECT_EQ(classify(p).word, "unknown");
  p.loops[0].share = 0.5, p.loops[1].share = 0.45;
  EXPECT_EQ(classify(p).word, "vectorisation");
}

TEST(Bottleneck, UnknownIsAnAnswer) {
  EXPECT_EQ(classify(Profile{}).word, "unknown");
  Profile p = with(1e6, 0.3, 0.3);
  p.loops = {good_loop()};
  const BottleneckState s = classify(p);
  EXPECT_EQ(s.word, "unknown");
  EXPECT_EQ(s.confidence, 0);
  EXPECT_FALSE(s.next.empty());
}

} // namespace
} // namespace kw
