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
  EXPECT_EQ(classify(p).word, "latency");
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
