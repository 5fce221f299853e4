// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "tensor/convert.hpp"
#include "tensor/generate.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

const Seed seed{3, 1, 4, 1, 5};
constexpr std::int64_t page = 64, topk = 2048;

DrawSpec lengths(std::int64_t sequences, std::int64_t pages) {
  DrawSpec s;
  s.dtype = DType::int32, s.shape = {sequences}, s.kind = "lengths", s.limit = pages * page;
  s.lengths = LengthSpec{.limit = s.limit, .page = page, .edges = {topk}};
  return s;
}
DrawSpec table(const DrawSpec& of, std::int64_t width, std::int64_t pages,
               std::uint32_t of_tensor = 3) {
  DrawSpec s;
  s.dtype = DType::int32, s.shape = {of.shape[0], width}, s.kind = "block_table", s.limit = pages;
  s.lengths = of.lengths;
  s.lengths->tensor = of_tensor;
  return s;
}
std::vector<double> drawn(const DrawSpec& s, std::uint64_t trial, InputClass cls,
                          std::uint32_t tensor) {
  std::int64_t n = 1;
  for (const std::int64_t extent : s.shape)
    n *= extent;
  std::vector<std::byte> bytes(byte_size(s.dtype, n));
  draw(s, cls, seed, trial, tensor, bytes);
  std::vector<double> out(static_cast<std::size_t>(n));
  to_double(s.dtype, bytes, out);
  return out;
}

TEST(Lengths, StayWithinTheTable) {
  for (const std::int64_t pages : {0, 1, 2, 31, 32, 33, 91})
    for (const InputClass cls : {InputClass::normal, InputClass::mask_edges})
      for (std::uint64_t trial = 0; trial < 200; ++trial)
        for (const double n : drawn(lengths(8, pages), trial, cls, 3)) {
          ASSERT_GE(n, 0);
          ASSERT_LE(n, static_cast<double>(pages * page));
        }
}

/// A call of `normal` has the work that the Definition counts, and the class is no more than that.
TEST(Lengths, EveryOtherSequenceEndsInItsLastPage) {
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    const std::vector<double> n = drawn(lengths(9, 33), trial, InputClass::normal, 3);
    for (std::size_t i = 0; i < n.size(); i += 2)
      ASSERT_GT(n[i], 32 * page);
  }
}

TEST(Lengths, MeetEveryEdge) {
  std::set<double> seen;
  bool below_page = false, above_page = false, at_page = false;
  for (std::uint64_t trial = 0; trial < 59; ++trial)
    for (const double n : drawn(lengths(8, 40), trial, InputClass::mask_edges, 3)) {
      seen.insert(n);
      const auto rest = static_cast<std::int64_t>(n) % page;
      below_page |= rest == page - 1, above_page |= rest == 1 && n > 1,
          at_page |= rest == 0 && n > 0;
    }
  for (const double edge : {0, 1, 2047, 2048, 2049, 2559, 2560})
    EXPECT_TRUE(seen.contains(edge)) << edge;
  EXPECT_TRUE(below_page && above_page && at_page);
  std::set<double> normal;
  for (std::uint64_t trial = 0; trial < 59; ++trial)
    for (const double n : drawn(lengths(8, 40), trial, InputClass::normal, 3))
      normal.insert(n);
  for (const double edge : {0, 2047, 2048, 2049})
    EXPECT_TRUE(normal.contains(edge)) << edge;
}

TEST(BlockTable, HoldsThePagesOfEachSequenceAndNoPageTwice) {
  int padded = 0, stale = 0, shared = 0;
  for (const InputClass cls : {InputClass::normal, InputClass::mask_edges})
    for (std::uint64_t trial = 0; trial < 100; ++trial) {
      const DrawSpec n = lengths(6, 40);
      const std::vector<double> length = drawn(n, trial, cls, 3);
      const std::vector<double> pages = drawn(table(n, 40, 50), trial, cls, 4);
      shared += std::equal(pages.begin(), pages.begin() + 1, pages.begin() + 40);
      for (std::size_t r = 0; r < 6; ++r) {
        const auto row = pages.begin() + static_cast<std::ptrdiff_t>(40 * r);
        const auto owned = (static_cast<std::int64_t>(length[r]) + page - 1) / page;
        std::set<double> all;
        for (std::int64_t i = 0; i < 40; ++i) {
          const double p = row[i];
          ASSERT_TRUE(p >= 0 || i >= owned) << "sequence of " << length[r];
          ASSERT_LT(p, 50);
          ASSERT_TRUE(p < 0 || all.insert(p).second);
          (p < 0 ? padded : stale) += i >= owned;
        }
      }
    }
  EXPECT_GT(padded, 1000);
  EXPECT_GT(stale, 1000);
  EXPECT_GT(shared, 5);
  EXPECT_LT(shared, 80);
}

TEST(BlockTable, WithoutLengthsIsFull) {
  DrawSpec s = table(lengths(6, 40), 40, 41);
  s.lengths.reset();
  for (std::uint64_t trial = 0; trial < 20; ++trial)
    for (const double p : drawn(s, trial, InputClass::normal, 4))
      ASSERT_GE(p, 0);
}

TEST(BlockTable, AnyRangeReplaysAlone) {
  const DrawSpec s = table(lengths(6, 40), 40, 41);
  const std::vector<double> whole = drawn(s, 5, InputClass::mask_edges, 4);
  std::vector<std::byte> part(byte_size(s.dtype, 60));
  draw_range(s, InputClass::mask_edges, seed, 5, 4, 33, 60, part);
  for (std::size_t i = 0; i < 60; ++i)
    ASSERT_EQ(element(s.dtype, part, i), whole[33 + i]);
}

/// Recorded seeds must replay for ever; tests/reference/pages.py draws the same.
TEST(Lengths, BitsAreFrozen) {
  std::string all;
  for (const std::int64_t width : {1, 33, 40})
    for (const InputClass cls : {InputClass::normal, InputClass::mask_edges})
      for (std::uint64_t trial = 0; trial < 32; ++trial) {
        const DrawSpec n = lengths(6, width);
        for (const double x : drawn(n, trial, cls, 3))
          all += std::to_string(static_cast<std::int64_t>(x)) + ' ';
        for (const double x : drawn(table(n, width, 173), trial, cls, 4))
          all += std::to_string(static_cast<std::int64_t>(x)) + ' ';
      }
  EXPECT_EQ(sha256_hex(all), "f0da89b201da0ba19a094cf3c2a6e6ac9e4eb7fad9f531f8ac7e815b5bc19a16");
}

} // namespace
} // namespace kw
