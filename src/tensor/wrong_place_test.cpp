// SPDX-License-Identifier: Apache-2.0
#include "tensor/wrong_place.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Index = std::uint64_t;
using IsBad = std::function<bool(Index, Index)>;

struct Found {
  WrongPlace place;
  std::string text;
  [[nodiscard]] std::string cluster() const { return std::string(place.cluster); }
};

/// Of an output rows x columns whose elements are wrong where `is_bad` says so.
Found found(std::int64_t rows, std::int64_t columns, const IsBad& is_bad,
            std::vector<std::int64_t> shape = {}) {
  if (shape.empty())
    shape = {rows, columns};
  WrongMap map(static_cast<Index>(rows * columns), columns);
  for (Index r = 0; r < static_cast<Index>(rows); ++r)
    for (Index c = 0; c < static_cast<Index>(columns); ++c)
      if (is_bad(r, c))
        map.add(r * static_cast<Index>(columns) + c);
  const WrongPlace place = map.place();
  return {place, place_text(place, shape)};
}

TEST(WrongPlace, All) {
  Found f = found(8, 512, [](Index, Index) { return true; });
  EXPECT_EQ(f.cluster(), "all");
  EXPECT_EQ(f.text, "every element");
  f = found(8, 512, [](Index r, Index c) { return r != 3 || c != 77; });
  EXPECT_EQ(f.text, "nearly every element");
}

TEST(WrongPlace, OneElement) {
  const Found f = found(8, 512, [](Index r, Index c) { return r == 7 && c == 511; });
  EXPECT_EQ(f.cluster(), "element");
  EXPECT_EQ(f.text, "a single element");
}

TEST(WrongPlace, LastColumns) {
  Found f = found(8, 512, [](Index, Index c) { return c >= 496; });
  EXPECT_EQ(f.cluster(), "last columns");
  EXPECT_EQ(f.text, "all in columns 496..511 (the last 16 of 512: the last step or the remainder "
                    "of a loop?)");
  f = found(8, 509, [](Index, Index c) { return c >= 496; });
  EXPECT_EQ(f.text, "all in columns 496..508 (the last 13 of 509, 509 mod 16: a remainder loop?)");
  f = found(8, 512, [](Index r, Index c) { return c == 511 && r < 3; });
  EXPECT_EQ(f.text, "all in column 511 (the last: a remainder loop?), in 3 of 8 rows");
  f = found(8, 512, [](Index r, Index c) { return c >= 496 && r == 7; });
  EXPECT_THAT(f.text, HasSubstr(" of the last row 7"));
  EXPECT_EQ(f.place.first_column, 496U);
  EXPECT_EQ(f.place.bad_rows, 1U);
}

TEST(WrongPlace, LastColumnsOfWhichSomeAreRightByChance) {
  const Found f = found(64, 512, [](Index r, Index c) { return c >= 500 && (r + 3 * c) % 4 == 0; });
  EXPECT_EQ(f.cluster(), "last columns");
  EXPECT_THAT(f.text, StartsWith("all in columns 500..511 (the last 12"));
}

TEST(WrongPlace, FirstColumnsAndSingleOnes) {
  EXPECT_EQ(found(8, 512, [](Index, Index c) { return c < 16; }).text,
            "all in columns 0..15 (the first 16 of 512)");
  Found f = found(8, 512, [](Index, Index c) { return c == 5; });
  EXPECT_EQ(f.cluster(), "column");
  EXPECT_EQ(f.text, "all in column 5");
  f = found(8, 512, [](Index, Index c) { return c % 16 == 3; });
  EXPECT_EQ(f.cluster(), "columns");
  EXPECT_EQ(f.place.period, 16U);
  EXPECT_EQ(f.text, "all in every 16th column from 3 on (one lane of a vector?)");
  EXPECT_EQ(found(8, 512, [](Index, Index c) { return c >= 32 && c < 48; }).text,
            "all in columns 32..47");
  EXPECT_EQ(found(8, 512, [](Index, Index c) { return c == 4 || c == 100 || c == 111; }).text,
            "all in 3 of 512 columns, between 4 and 111");
}

TEST(WrongPlace, Rows) {
  Found f = found(128, 512, [](Index r, Index) { return r == 17; });
  EXPECT_EQ(f.cluster(), "row");
  EXPECT_EQ(f.text, "the whole of row 17");
  f = found(128, 512, [](Index r, Index) { return r == 127; });
  EXPECT_EQ(f.cluster(), "last rows");
  EXPECT_EQ(f.text, "the whole of the last row (127)");
  f = found(130, 512, [](Index r, Index) { return r >= 128; });
  EXPECT_EQ(f.text, "the whole of the last 2 of 130 rows (from 128: a remainder loop?)");
  EXPECT_EQ(found(128, 512, [](Index r, Index) { return r < 4; }).text,
            "the whole of the first 4 of 128 rows");
  f = found(128, 512, [](Index r, Index) { return r % 4 == 1; });
  EXPECT_EQ(f.cluster(), "rows");
  EXPECT_EQ(f.text, "the whole of every 4th row from 1 on, 32 of 128 rows");
  EXPECT_EQ(found(128, 512, [](Index r, Index) { return r >= 5 && r < 8; }).text,
            "the whole of rows 5..7");
  EXPECT_EQ(found(128, 512, [](Index r, Index) { return r == 5 || r == 17 || r == 30; }).text,
            "the whole of 3 of 128 rows, between 5 and 30");
  f = found(128, 512, [](Index r, Index c) { return r == 17 && c % 5 == 0; });
  EXPECT_EQ(f.cluster(), "columns") << "every fifth of one row is no row";
  f = found(128, 512, [](Index r, Index c) { return r == 17 && (c * c) % 7 == 1; });
  EXPECT_EQ(f.text, "all in row 17");
}

TEST(WrongPlace, RowsAreNamedByAllTheirAxes) {
  const Found f = found(12, 64, [](Index r, Index) { return r == 7; }, {3, 4, 64});
  EXPECT_EQ(f.text, "the whole of row [1, 3]");
}

TEST(WrongPlace, TilesAndBlocks) {
  const auto box = [](Index r0, Index r1, Index c0, Index c1) {
    return [=](Index r, Index c) { return r >= r0 && r <= r1 && c >= c0 && c <= c1; };
  };
  Found f = found(64, 512, box(48, 63, 448, 511));
  EXPECT_EQ(f.cluster(), "tile");
  EXPECT_EQ(f.text,
            "every element of rows 48..63, columns 448..511 (a tile of 16 x 64, the last one)");
  f = found(64, 512, box(16, 31, 64, 127));
  EXPECT_EQ(f.text, "every element of rows 16..31, columns 64..127 (a tile of 16 x 64)");
  f = found(64, 512, box(3, 7, 11, 17));
  EXPECT_EQ(f.cluster(), "block");
  EXPECT_EQ(f.text, "every element of rows 3..7, columns 11..17 (a block of 5 x 7)");
  f = found(64, 512, [](Index r, Index c) { return (r / 16 + c / 16) % 7 == 3; });
  EXPECT_EQ(f.cluster(), "tiles");
  EXPECT_THAT(f.text, HasSubstr("whole tiles of 16 x 16"));
  f = found(64, 512,
            [](Index r, Index c) { return r / 16 == 1 && c / 64 == 2 && (r * 5 + c) % 3 == 0; });
  EXPECT_EQ(f.cluster(), "block");
  EXPECT_THAT(f.text, StartsWith("all within rows 16..31, columns 128..19"));
}

TEST(WrongPlace, TailThroughRows) {
  const Found f = found(8, 100, [](Index r, Index c) { return r * 100 + c >= 650; });
  EXPECT_EQ(f.cluster(), "tail");
  EXPECT_EQ(f.text, "the last 150 elements, through rows and columns");
}

TEST(WrongPlace, Scattered) {
  const Found f = found(64, 512, [](Index r, Index c) { return (r * 7 + c * 13) % 31 == 0; });
  EXPECT_EQ(f.cluster(), "scattered");
  EXPECT_EQ(f.text, "scattered over 64 of 64 rows and 512 of 512 columns");
  EXPECT_EQ(found(64, 512, [](Index r, Index c) { return c == 9 && (r == 3 || r == 8); }).cluster(),
            "column")
      << "few, but both of a column";
  EXPECT_EQ(found(64, 512, [](Index r, Index c) { return r == 3 ? c == 5 : r == 40 && c == 77; })
                .cluster(),
            "scattered")
      << "two at random";
}

TEST(WrongPlace, VectorsHaveElements) {
  EXPECT_EQ(found(1, 1000, [](Index, Index c) { return c >= 992; }, {1000}).text,
            "all in elements 992..999 (the last 8 of 1000, 1000 mod 16: a remainder loop?)");
  // One value per row: rows are all there is.
  EXPECT_EQ(found(40, 1, [](Index r, Index) { return r >= 32; }, {40, 1}).cluster(), "last rows");
  EXPECT_EQ(
      found(40, 1, [](Index r, Index) { return r == 3 || r == 31 || r == 32; }, {40, 1}).cluster(),
      "scattered");
}

} // namespace
} // namespace kw
