// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "tensor/convert.hpp"
#include "tensor/generate.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

using enum InputClass;
using Row = std::vector<std::int64_t>;
const Seed seed{9, 8, 7, 6, 5};

DrawSpec slots(std::int64_t rows, std::int64_t columns, std::int64_t limit) {
  DrawSpec s;
  s.dtype = DType::int32, s.shape = {rows, columns}, s.kind = "slots", s.limit = limit;
  return s;
}

std::vector<Row> drawn(const DrawSpec& s, std::uint64_t trial, InputClass cls = normal) {
  const std::int64_t n = s.shape[0] * s.shape[1];
  std::vector<std::byte> bytes(byte_size(s.dtype, n));
  draw(s, cls, seed, trial, 0, bytes);
  std::vector<Row> out(static_cast<std::size_t>(s.shape[0]));
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    out[i / static_cast<std::size_t>(s.shape[1])].push_back(
        static_cast<std::int64_t>(element(s.dtype, bytes, i)));
  return out;
}

Row used(const Row& row) {
  return {row.begin(), std::find(row.begin(), row.end(), -1)};
}

TEST(Slots, AreDifferentInRangeAndPaddedAtTheEnd) {
  for (const DType dtype : {DType::int32, DType::int64})
    for (const InputClass cls : {normal, mask_edges})
      for (const std::int64_t columns : {1, 2, 64, 200})
        for (const std::int64_t limit : {0, 1, 2, 3, 5, 16, 17, 64, 199, 200, 201, 541'568})
          for (std::uint64_t trial = 0; trial < 24; ++trial) {
            DrawSpec s = slots(3, columns, limit);
            s.dtype = dtype;
            for (const Row& row : drawn(s, trial, cls)) {
              const Row some = used(row);
              ASSERT_EQ(std::count(row.begin(), row.end(), -1),
                        columns - static_cast<std::int64_t>(some.size()));
              ASSERT_EQ(std::set<std::int64_t>(some.begin(), some.end()).size(), some.size());
              for (const std::int64_t slot : some)
                ASSERT_TRUE(slot >= 0 && slot < limit) << slot << " of " << limit;
            }
          }
}

/// Every kind of row that a kernel may stumble over comes up within a gate, full ones most often.
TEST(Slots, CoverTheCorners) {
  constexpr std::int64_t columns = 256, limit = 4096;
  int full = 0, empty = 0, one = 0, all_but_one = 0, page = 0, first = 0, last = 0, ascending = 0,
      descending = 0, alike = 0, rows = 0;
  for (std::uint64_t trial = 0; trial < 59; ++trial) {
    const std::vector<Row> drawn_rows =
        drawn(slots(4, columns, limit), trial, trial % 4 == 0 ? mask_edges : normal);
    for (const Row& row : drawn_rows) {
      const Row some = used(row);
      const std::size_t n = some.size();
      ++rows;
      full += n == columns, empty += n == 0, one += n == 1, all_but_one += n == columns - 1;
      page += n > 0 && n < columns && (n % 64 <= 1 || n % 64 == 63);
      first += std::count(some.begin(), some.end(), 0) > 0;
      last += std::count(some.begin(), some.end(), limit - 1) > 0;
      ascending += n > 2 && std::is_sorted(some.begin(), some.end());
      descending += n > 2 && std::is_sorted(some.rbegin(), some.rend());
    }
    const std::size_t shared = std::min(used(drawn_rows[0]).size(), used(drawn_rows[1]).size());
    alike += shared > 2 && std::equal(drawn_rows[0].begin(),
                                      drawn_rows[0].begin() + static_cast<std::ptrdiff_t>(shared),
                                      drawn_rows[1].begin());
  }
  for (const int seen : {empty, one, all_but_one, page, first, last, ascending, descending, alike})
    EXPECT_GE(seen, 3);
  EXPECT_GT(full, rows / 2);
}

TEST(Slots, AreSpreadOverTheWholeCache) {
  // Of 16 equal parts of the cache each gets its share, and so does each place of a page.
  std::vector<int> parts(16), places(64);
  int total = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial)
    for (const Row& row : drawn(slots(1, 512, 100'032), trial)) {
      const Row some = used(row);
      if (std::is_sorted(some.begin(), some.end()) || some[0] == 0 || some[0] == 100'031)
        continue; // a run
      for (const std::int64_t slot : some) {
        ++parts[static_cast<std::size_t>(slot / 6252)];
        ++places[static_cast<std::size_t>(slot % 64)];
        ++total;
      }
    }
  ASSERT_GT(total, 30'000);
  for (const int n : parts)
    EXPECT_NEAR(n, total / 16.0, total / 16.0 * 0.1);
  for (const int n : places)
    EXPECT_NEAR(n, total / 64.0, total / 64.0 * 0.2);
}

TEST(Slots, SharesBoundHowManyAreInUse) {
  DrawSpec s = slots(4, 100, 1000);
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    s.low = 1, s.high = 1;
    for (const Row& row : drawn(s, trial, mask_edges))
      EXPECT_EQ(used(row).size(), 100U);
    s.low = 0.25, s.high = 0.5;
    for (const Row& row : drawn(s, trial)) {
      EXPECT_GE(used(row).size(), 25U);
      EXPECT_LE(used(row).size(), 50U);
    }
  }
}

TEST(Slots, DifferBetweenTrialsAndAnyRangeReplaysAlone) {
  std::set<Row> all;
  for (std::uint64_t trial = 0; trial < 100; ++trial)
    all.insert(drawn(slots(1, 64, 4096), trial)[0]);
  EXPECT_GT(all.size(), 60U);
  const DrawSpec s = slots(40, 9, 512);
  Row whole;
  for (const Row& row : drawn(s, 3))
    whole.insert(whole.end(), row.begin(), row.end());
  std::vector<std::byte> part(byte_size(s.dtype, 14));
  draw_range(s, normal, seed, 3, 0, 5, 14, part);
  for (std::size_t i = 0; i < 14; ++i)
    EXPECT_EQ(element(s.dtype, part, i), static_cast<double>(whole[5 + i]));
  EXPECT_EQ(applicable_classes(s), (std::vector{normal, mask_edges}));
}

/// Recorded seeds must replay for ever. tests/reference/slots.py computes the same value.
TEST(Slots, BitsAreFrozen) {
  std::string all;
  for (const auto& [columns, limit] : {std::pair{80, 1000}, {80, 7}, {200, 541'568}})
    for (const InputClass cls : {normal, mask_edges})
      for (std::uint64_t trial = 0; trial < 32; ++trial)
        for (const Row& row : drawn(slots(3, columns, limit), trial, cls))
          for (const std::int64_t slot : row)
            all += std::to_string(slot) + ' ';
  EXPECT_EQ(sha256_hex(all), "500d7a87ab96b029d290551fcf22f96e522a51152bcf23f355b153a6ee5c031c");
}

} // namespace
} // namespace kw
