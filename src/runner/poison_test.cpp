// SPDX-License-Identifier: Apache-2.0
#include "runner/poison.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace kw {
namespace {

class Poison : public testing::TestWithParam<std::size_t> {
 protected:
  Poison() : arena_(1 << 17) {
    const std::array<std::size_t, 1> sizes{GetParam()};
    buffer_ = plan_layout(sizes, Placement::end_aligned, arena_.size()).value().front();
  }
  std::vector<std::byte> arena_;
  BufferSpan buffer_;
};

TEST_P(Poison, EvenIsNanOddIsLargeEverywhereAndNothingOutsideIsTouched) {
  for (std::uint32_t pattern = 0; pattern < 64; ++pattern) {
    std::fill(arena_.begin(), arena_.end(), std::byte{0x5a});
    poison_output(arena_.data(), buffer_, pattern);
    for (std::size_t at = 0; at + 4 <= buffer_.bytes; at += 4) {
      float value = 0;
      std::memcpy(&value, arena_.data() + buffer_.offset + at, 4);
      ASSERT_TRUE(pattern % 2 == 0 ? std::isnan(value) : value > 9e29F) << at;
    }
    ASSERT_EQ(arena_[buffer_.offset - 1], std::byte{0x5a});
    ASSERT_EQ(arena_[buffer_.offset + buffer_.bytes], std::byte{0x5a});
    ASSERT_NE(arena_[buffer_.offset + buffer_.bytes - 1], std::byte{0x5a});
  }
}

TEST_P(Poison, UnwrittenElementsAreCountedAndWrittenOnesAreNot) {
  for (const std::size_t size : {1U, 2U, 4U, 8U})
    for (const std::uint32_t pattern : {0U, 1U, 38U, 63U}) {
      poison_output(arena_.data(), buffer_, pattern);
      const auto output = std::span(arena_).subspan(buffer_.offset, buffer_.bytes);
      const std::uint64_t all = buffer_.bytes / size;
      EXPECT_EQ(count_poisoned(output, size, pattern), all);
      EXPECT_EQ(count_poisoned(output, size, pattern + 1), 0U) << "what another call left behind";
      if (all == 0)
        continue;
      output[(all - 1) * size] ^= std::byte{0x10};
      EXPECT_EQ(count_poisoned(output, size, pattern), all - 1);
      EXPECT_FALSE(holds_poison(output, size, all - 1, pattern));
      EXPECT_EQ(holds_poison(output, size, 0, pattern), all > 1);
      EXPECT_FALSE(holds_poison(output, size, all, pattern)) << "past the end";
    }
}

TEST_P(Poison, BrokenCanaryIsFoundWithItsDistance) {
  constexpr std::uint64_t key = 0x1234567;
  fill_canaries(arena_.data(), buffer_, key);
  EXPECT_FALSE(first_broken_canary(arena_.data(), buffer_, key));
  EXPECT_TRUE(first_broken_canary(arena_.data(), buffer_, key + 1) ||
              buffer_.pages_end - buffer_.pages_begin == buffer_.bytes);
  if (buffer_.offset > buffer_.pages_begin) {
    arena_[buffer_.offset - 1] ^= std::byte{1};
    EXPECT_EQ(first_broken_canary(arena_.data(), buffer_, key), -1);
    arena_[buffer_.offset - 1] ^= std::byte{1};
  }
  if (buffer_.offset + buffer_.bytes + 3 < buffer_.pages_end) {
    arena_[buffer_.offset + buffer_.bytes + 3] ^= std::byte{1};
    EXPECT_EQ(first_broken_canary(arena_.data(), buffer_, key), 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Poison, testing::Values(1, 4, 60, 4095, 4097, 8191, 40961, 65540));

} // namespace
} // namespace kw
