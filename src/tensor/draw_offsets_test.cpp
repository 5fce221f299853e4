// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "tensor/convert.hpp"
#include "tensor/generate.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

const Seed seed{8, 7, 6, 5};

DrawSpec offsets(std::int64_t places, std::int64_t limit, DType dtype = DType::int64) {
  DrawSpec s;
  s.dtype = dtype, s.shape = {places}, s.kind = "offsets", s.limit = limit;
  return s;
}

std::vector<double> drawn(const DrawSpec& s, std::uint64_t trial,
                          InputClass cls = InputClass::normal) {
  std::int64_t n = 1;
  for (const std::int64_t extent : s.shape)
    n *= extent;
  std::vector<std::byte> bytes(byte_size(s.dtype, n));
  draw(s, cls, seed, trial, 0, bytes);
  std::vector<double> out(static_cast<std::size_t>(n));
  to_double(s.dtype, bytes, out);
  return out;
}

std::vector<double> lengths(const std::vector<double>& at) {
  std::vector<double> out;
  for (std::size_t i = 1; i < at.size(); ++i)
    out.push_back(at[i] - at[i - 1]);
  return out;
}

TEST(Offsets, BeginWithZeroEndWithTheLimitAndNeverFall) {
  for (const DType dtype : {DType::int32, DType::int64})
    for (const std::int64_t places : {2, 3, 4, 6, 58})
      for (const std::int64_t limit : {0, 1, 2, 7, 8192})
        for (std::uint64_t trial = 0; trial < 64; ++trial) {
          const std::vector<double> at = drawn(offsets(places, limit, dtype), trial);
          ASSERT_EQ(at.front(), 0);
          ASSERT_EQ(at.back(), static_cast<double>(limit));
          ASSERT_TRUE(std::is_sorted(at.begin(), at.end())) << places << ' ' << limit;
        }
}

/// Every kind of batch that a kernel may stumble over comes up within a gate.
TEST(Offsets, CoverTheCornersOfPackedSequences) {
  int empty_first = 0, empty_last = 0, empty_inside = 0, one_token = 0, equal = 0, one_long = 0,
      no_empty = 0;
  for (std::uint64_t trial = 0; trial < 59; ++trial) {
    const std::vector<double> n = lengths(drawn(offsets(9, 512), trial));
    const auto count = [&](double x) { return std::count(n.begin(), n.end(), x); };
    empty_first += n.front() == 0;
    empty_last += n.back() == 0;
    empty_inside += std::count(n.begin() + 1, n.end() - 1, 0.0) > 0;
    one_token += count(1) > 0;
    equal += count(64) == 8;
    one_long += count(1) == 7 && count(505) == 1;
    no_empty += count(0) == 0;
  }
  for (const int seen : {empty_first, empty_last, empty_inside, one_token, equal, one_long})
    EXPECT_GE(seen, 2);
  EXPECT_GE(no_empty, 15);
}

TEST(Offsets, AreTheSameInEveryClassAndDifferBetweenTrials) {
  const DrawSpec s = offsets(9, 512);
  for (const InputClass cls : all_input_classes())
    EXPECT_EQ(drawn(s, 4, cls), drawn(s, 4)) << name(cls);
  std::set<std::vector<double>> all;
  for (std::uint64_t trial = 0; trial < 100; ++trial)
    all.insert(drawn(s, trial));
  EXPECT_GT(all.size(), 60U);
  EXPECT_EQ(applicable_classes(s), std::vector{InputClass::normal});
}

TEST(Offsets, RowsDifferAndAnyRangeReplaysAlone) {
  DrawSpec s = offsets(9, 512);
  s.shape = {40, 9};
  const std::vector<double> whole = drawn(s, 3);
  std::set<std::vector<double>> rows;
  for (auto at = whole.begin(); at != whole.end(); at += 9)
    rows.insert({at, at + 9});
  EXPECT_GT(rows.size(), 25U);
  std::vector<std::byte> part(byte_size(s.dtype, 14));
  draw_range(s, InputClass::normal, seed, 3, 0, 5, 14, part);
  for (std::size_t i = 0; i < 14; ++i)
    EXPECT_EQ(element(s.dtype, part, i), whole[5 + i]);
}

/// Recorded seeds must replay for ever.
TEST(Offsets, BitsAreFrozen) {
  std::string all;
  for (std::uint64_t trial = 0; trial < 32; ++trial)
    for (const double x : drawn(offsets(9, 512), trial))
      all += std::to_string(static_cast<std::int64_t>(x)) + ' ';
  EXPECT_EQ(sha256_hex(all), "7fec74c3ad7176d2af037ac37a923aaf5080ca8ce8ab2fd8f1e7d7edc9d4661b");
}

} // namespace
} // namespace kw
