// SPDX-License-Identifier: Apache-2.0
#include "judge/sanitize.hpp"

#include "judge/sanitizer_report.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

using Names = std::vector<std::string>;

TEST(SanitizerBuilds, TheThreadSanitizerGoesAlone) {
  EXPECT_EQ(sanitizer_builds("address,undefined").value(), Names{"address,undefined"});
  EXPECT_EQ(sanitizer_builds("thread,undefined,address").value(),
            (Names{"address,undefined", "thread"}));
  EXPECT_EQ(sanitizer_builds("undefined").value(), Names{"undefined"});
  EXPECT_EQ(sanitizer_builds("thread").value(), Names{"thread"});
  EXPECT_EQ(sanitizer_builds("none").value(), Names{});
  for (const char* bad : {"memory", "address,", ",", "address undefined", "none,thread"}) {
    const auto refused = sanitizer_builds(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
    EXPECT_FALSE(refused.error().remedy.empty());
  }
}

BoundWorkload shape(std::int64_t rows, double flops) {
  BoundWorkload w;
  w.workload.axes = {{"rows", rows}};
  w.flops = flops;
  w.bytes_read = w.bytes_written = 4 * flops;
  return w;
}

TEST(SideCalls, SmallAndRaggedFirstWithinABudget) {
  const std::vector<BoundWorkload> workloads{shape(128, 1e6), shape(127, 2e6), shape(16, 1e3),
                                             shape(4096, 1e12)};
  EXPECT_EQ(side_calls(workloads), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(SideCalls, TheSmallestIsTriedWhateverItCosts) {
  EXPECT_EQ(side_calls({shape(4096, 1e12)}), std::vector<std::size_t>{0});
  EXPECT_TRUE(side_calls({}).empty());
}

TEST(SideCalls, DifferentShapesBeforeDifferentInputs) {
  EXPECT_EQ(side_calls({shape(16, 10), shape(32, 20)}), (std::vector<std::size_t>{0, 1, 0, 1}));
}

TEST(SideCalls, TwinsAreNotCalled) {
  std::vector<BoundWorkload> workloads{shape(1, 1), shape(1, 1)};
  workloads[1].timed = false;
  EXPECT_EQ(side_calls(workloads), (std::vector<std::size_t>{0, 0}));
}

TEST(SanitizerReport, TroubleOfTheRuntimeIsNoFault) {
  for (const char* text :
       {"==1==ERROR: AddressSanitizer failed to allocate 0x1000 bytes\n",
        "==1==ERROR: AddressSanitizer: out of memory: allocator is trying to allocate\n",
        "==1==AddressSanitizer: CHECK failed: asan_thread.cpp:367\n",
        "==1==ERROR: AddressSanitizer: hard rss limit exhausted (4096Mb vs 4100Mb)\n",
        "FATAL: ThreadSanitizer: unexpected memory mapping 0x1-0x2\n"})
    EXPECT_FALSE(parse_sanitizer_report(text, {}).is_fault()) << text;
  for (const char* text :
       {"==1==ERROR: AddressSanitizer: use-after-poison on address 0x1 at pc 0x2\n",
        "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x1)\n",
        "WARNING: ThreadSanitizer: data race (pid=1)\n",
        "k:1:1: runtime error: division by zero\n"})
    EXPECT_TRUE(parse_sanitizer_report(text, {}).is_fault()) << text;
}

} // namespace
} // namespace kw
