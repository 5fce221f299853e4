// SPDX-License-Identifier: Apache-2.0
#include "report/profile_text.hpp"

#include "report/report_fixture.hpp"
#include "report/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Profile softmax_profile() {
  Profile p;
  p.solution = "baseline";
  p.axes = "rows=128 cols=512";
  p.figures = {{"call", 270450, "ns", "judge", 0.9},
               {"flop_share", 0.031, "", "judge, ceilings", 0.9},
               {"bandwidth_share", 0.062, "", "judge, ceilings", 0.9},
               {"fast_math", 0.98, "of the time", "variant build", 0.8}};
  ObjectLoop hot{.function = "softmax", .file = "baseline.cpp", .line = 14};
  hot.instructions = 12, hot.scalar = 3, hot.accumulators = 1, hot.loads = 2, hot.stores = 1;
  hot.calls = 1, hot.share = 0.63, hot.hot = true, hot.confidence = 1;
  ObjectLoop other{.function = "softmax"};
  other.instructions = 9, other.vector_bits = 512, other.packed = 4, other.scalar = 1;
  p.loops = {hot, other};
  p.remarks = {{"baseline.cpp", 14, false, "call", "call instruction cannot be vectorized", "c"}};
  p.missing = {"time inside functions of the runner"};
  p.state = {.word = "vectorisation",
             .confidence = 0.57,
             .headroom = 16.1,
             .evidence = {"far from both ceilings: 3 % of the FLOP ceiling, 6 % of the bandwidth "
                          "that fits its footprint",
                          "the loop at baseline.cpp:14 calls a function in every turn"},
             .next = {"write the function as a polynomial in vectors"}};
  return p;
}

TEST(ProfileText, MatchesItsGoldenFile) {
  EXPECT_EQ(golden_difference("profile.txt", render_profile(softmax_profile(), false)), "");
}

TEST(ProfileText, NoLineIsWiderThanATerminal) {
  Profile p = softmax_profile();
  p.state.evidence.push_back("word " + std::string(3, 'x') + std::string(120, ' ') + "end");
  std::istringstream lines(render_profile(p, false));
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(display_width(line), 120U) << line;
}

TEST(ProfileText, EveryWordHasASentence) {
  Profile p = softmax_profile();
  for (const auto& [word, sentence] :
       {std::pair{"compute", "compute-bound (confidence 57 %)"},
        std::pair{"memory", "memory-bound (confidence 57 %)"},
        std::pair{"mixed", "bound by compute and memory alike"},
        std::pair{"dependency", "bound by chains of dependent operations"},
        std::pair{"load_store", "bound by loads and stores"},
        std::pair{"latency", "bound by latency: units wait"},
        std::pair{"tail", "bound by a tail that leaves units idle"},
        std::pair{"threading", "bound by threads in each other's way"},
        std::pair{"launch", "bound by the cost of a call"}}) {
    p.state.word = word;
    EXPECT_THAT(render_profile(p, false), HasSubstr(std::string("bottleneck   ") + sentence));
  }
  p.state.word = "unknown";
  EXPECT_THAT(render_profile(p, false), HasSubstr("bottleneck   not known"));
}

TEST(ProfileText, LevelsModelsSizesAndThreads) {
  Profile p = softmax_profile();
  p.state.word = "memory", p.state.level = "L2";
  p.loops[0].pipeline = {{.model = "sapphirerapids",
                          .own = true,
                          .cycles = 4.09,
                          .throughput = 1.2,
                          .ports = 0.5,
                          .port = "SPRPort00",
                          .source = "llvm-mca 19.1.7"}};
  p.sweep = {{"rows", 6, 24576, "L1", 12000, 0.488, "judge, warm calls", 0.8}};
  p.scaling = {{1, 80000, 1, 1, "judge", 0.8}, {2, 50000, 1.6, 0.8, "judge", 0.8}};
  p.figures.push_back({"cliff_L2", 2.9, "x per byte", "size sweep", 0.8});
  const std::string text = render_profile(p, false);
  EXPECT_THAT(text, HasSubstr("memory-bound in L2 (confidence 57 %)"));
  EXPECT_THAT(text, HasSubstr("sapphirerapids (this machine)     4.1"));
  EXPECT_THAT(text, HasSubstr("50 % SPRPort00"));
  EXPECT_THAT(text, HasSubstr("24576  L1    12.0 us        0.488  judge, warm calls"));
  EXPECT_THAT(text, HasSubstr("1.60x"));
  EXPECT_THAT(text, HasSubstr("2.90 x per byte  dearer from L2 than from the level before"));
}

TEST(ProfileText, WhatIsNotThereIsNotShown) {
  Profile p;
  p.solution = "k";
  const std::string text = render_profile(p, false);
  EXPECT_THAT(text, StartsWith("k\nbottleneck   not known"));
  for (const char* part : {"headroom", "evidence", "try", "innermost loop", "compiler", "missing"})
    EXPECT_THAT(text, Not(HasSubstr(part)));
  p.loops = {ObjectLoop{.function = "f", .hot = true, .confidence = 0.4}};
  EXPECT_THAT(render_profile(p, false), HasSubstr("hot, by its looks (40 %)"));
}

TEST(ProfileText, HostileNamesDoNotReachTheTerminal) {
  Profile p = softmax_profile();
  p.solution = p.axes = p.loops[0].file = p.remarks[0].text = p.missing[0] = p.state.evidence[0] =
      p.figures[0].source = "\x1b[2Jgone";
  const std::string text = render_profile(p, false);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("gone"));
}

} // namespace
} // namespace kw
