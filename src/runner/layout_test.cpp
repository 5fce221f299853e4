// SPDX-License-Identifier: Apache-2.0
#include "runner/layout.hpp"

#include <array>
#include <gtest/gtest.h>

namespace kw {
namespace {

constexpr std::size_t page = 4096;

TEST(Layout, EndAlignedBufferTouchesItsGuardPage) {
  const std::array<std::size_t, 1> sizes{5 * 64};
  const auto plan = plan_layout(sizes, Placement::end_aligned, 1 << 20);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->front().pages_begin, page);
  EXPECT_EQ(plan->front().pages_end, 2 * page);
  EXPECT_EQ(plan->front().offset + plan->front().bytes, plan->front().pages_end);
}

TEST(Layout, EndAlignedSlackIsBelowOneAlignment) {
  for (std::size_t bytes = 1; bytes < 3 * page; bytes += 7) {
    const std::array<std::size_t, 1> sizes{bytes};
    const auto plan = plan_layout(sizes, Placement::end_aligned, 1 << 20);
    ASSERT_TRUE(plan.has_value());
    const BufferSpan& b = plan->front();
    EXPECT_EQ(b.offset % 64, 0U) << bytes;
    EXPECT_GE(b.offset, b.pages_begin) << bytes;
    EXPECT_LE(b.offset + b.bytes, b.pages_end) << bytes;
    EXPECT_LT(b.pages_end - (b.offset + b.bytes), 64U) << bytes;
  }
}

TEST(Layout, StartAlignedBufferBeginsItsPage) {
  const std::array<std::size_t, 2> sizes{100, page + 1};
  const auto plan = plan_layout(sizes, Placement::start_aligned, 1 << 20);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ((*plan)[0].offset, page);
  EXPECT_EQ((*plan)[1].offset,
            (*plan)[0].pages_end + 2 * page); // one guard page for each neighbour
  EXPECT_EQ((*plan)[1].pages_end - (*plan)[1].pages_begin, 2 * page);
}

TEST(Layout, EmptyBufferHasAPageOfItsOwn) {
  const std::array<std::size_t, 2> sizes{0, 0};
  for (const auto placement : {Placement::start_aligned, Placement::end_aligned}) {
    const auto plan = plan_layout(sizes, placement, 1 << 20);
    ASSERT_TRUE(plan.has_value());
    EXPECT_LT((*plan)[0].offset, (*plan)[0].pages_end);
    EXPECT_GE((*plan)[0].offset, (*plan)[0].pages_begin);
  }
}

TEST(Layout, ArenaBytesIsExactlyEnough) {
  const std::array<std::size_t, 4> sizes{1, page, page + 1, 0};
  const std::size_t bytes = arena_bytes(sizes);
  EXPECT_TRUE(plan_layout(sizes, Placement::end_aligned, bytes).has_value());
  EXPECT_TRUE(plan_layout(sizes, Placement::start_aligned, bytes).has_value());
  EXPECT_FALSE(plan_layout(sizes, Placement::end_aligned, bytes - 1).has_value());
}

TEST(Layout, RefusesMoreBuffersThanTheProtocolCarries) {
  const std::vector<std::size_t> sizes(49, 8);
  EXPECT_FALSE(plan_layout(sizes, Placement::end_aligned, 1 << 24).has_value());
}

} // namespace
} // namespace kw
