// SPDX-License-Identifier: Apache-2.0
// Where the wrong elements of an output lie: one row, the last columns, a tile, ... What a kernel
// author needs first. Costs a few counters per wrong element and nothing on a clean output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// An output is seen as rows x columns: columns run along the last axis, rows are all other axes
/// counted through.
struct WrongPlace {
  /// "all" at least 95 % of the elements; "element" one; "row", "rows", "first rows", "last rows"
  /// whole rows; "column", "columns", "first columns", "last columns"; "tile" a rectangle on
  /// multiples of 4 rows and 8 columns, "block" any other, "tiles" several of 16 x 16; "tail" the
  /// end of the output counted through; "scattered".
  std::string_view cluster;
  std::uint64_t rows = 0, columns = 0;         ///< of the output
  std::uint64_t bad = 0;                       ///< wrong elements
  std::uint64_t bad_rows = 0, bad_columns = 0; ///< that hold a wrong element
  std::uint64_t first_row = 0, last_row = 0, first_column = 0, last_column = 0; ///< around all
  std::uint64_t period = 0;      ///< distance of the rows or columns, where it is the same; else 0
  std::uint64_t tiles = 0;       ///< of 16 x 16 elements that hold a wrong one
  std::uint64_t first_index = 0; ///< flat
};

/// Takes wrong elements in ascending order.
class WrongMap {
 public:
  static constexpr std::uint64_t tile = 16;

  /// `row`: length of the last axis.
  WrongMap(std::uint64_t elements, std::int64_t row);
  void add(std::uint64_t index);
  /// Of at least one wrong element.
  [[nodiscard]] WrongPlace place() const;

 private:
  [[nodiscard]] std::string_view cluster(WrongPlace& p) const;
  [[nodiscard]] std::string_view concentrated(const WrongPlace& p) const;
  [[nodiscard]] double touched_area() const;

  std::uint64_t columns_, rows_, bad_ = 0, first_ = 0, last_ = 0;
  std::vector<std::uint8_t> row_, column_, tile_; ///< whether it holds a wrong element
};

/// "all in columns 496..511 (the last 16 of 512: a remainder loop?)". `shape` of the output, to
/// name rows by all their axes.
[[nodiscard]] std::string place_text(const WrongPlace& place, std::span<const std::int64_t> shape);

} // namespace kw
