// SPDX-License-Identifier: Apache-2.0
// The place of errors in words.
#include "tensor/wrong_place.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

std::string range(std::uint64_t first, std::uint64_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last);
}

/// "17", or "[3, 5]" where several axes make up the rows.
std::string row_name(std::uint64_t row, std::span<const std::int64_t> shape) {
  if (shape.size() <= 2)
    return fmt::format("{}", row);
  std::string out;
  for (std::size_t i = shape.size() - 1; i-- > 0;) {
    const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[i], 1));
    out = fmt::format("{}{}{}", row % size, out.empty() ? "" : ", ", out);
    row /= size;
  }
  return "[" + out + "]";
}

std::string rows_text(const WrongPlace& p, std::span<const std::int64_t> shape) {
  return p.first_row == p.last_row ? "row " + row_name(p.first_row, shape)
         : shape.size() <= 2       ? "rows " + range(p.first_row, p.last_row)
                                   : fmt::format("rows {} to {}", row_name(p.first_row, shape),
                                                 row_name(p.last_row, shape));
}

std::string ordinal(std::uint64_t n) {
  const std::uint64_t tens = n / 10 % 10, ones = n % 10;
  return fmt::format("{}{}", n,
                     tens == 1   ? "th"
                     : ones == 1 ? "st"
                     : ones == 2 ? "nd"
                     : ones == 3 ? "rd"
                                 : "th");
}

/// Why the last `width` of `whole`: what a loop in steps of a power of two leaves over, or its last
/// step.
std::string remainder_text(std::uint64_t width, std::uint64_t whole) {
  for (const std::uint64_t step : {4U, 8U, 16U, 32U, 64U, 128U})
    if (width < step && whole % step == width)
      return fmt::format(", {} mod {}: a remainder loop?", whole, step);
  return width > 1 && whole % width == 0 ? ": the last step or the remainder of a loop?"
                                         : ": a remainder loop?";
}

std::string columns_text(const WrongPlace& p, const char* noun) {
  const std::uint64_t width = p.last_column - p.first_column + 1;
  return fmt::format("{}{} {}", noun, width > 1 ? "s" : "", range(p.first_column, p.last_column));
}

std::string in_which_rows(const WrongPlace& p, std::span<const std::int64_t> shape) {
  if (p.rows == 1 || p.bad_rows == p.rows)
    return {};
  if (p.bad_rows > 1)
    return fmt::format(", in {} of {} rows", p.bad_rows, p.rows);
  return fmt::format(" of {}row {}", p.first_row + 1 == p.rows ? "the last " : "",
                     row_name(p.first_row, shape));
}

std::string of_rows(const WrongPlace& p, std::span<const std::int64_t> shape) {
  const std::uint64_t height = p.last_row - p.first_row + 1;
  // Not filled: found because so many errors are in so few rows.
  const bool whole = 10 * p.bad >= 9 * p.bad_rows * p.columns;
  const std::string all = whole ? "the whole of " : "all in ";
  if (p.cluster == "row")
    return all + rows_text(p, shape);
  if (p.cluster == "last rows" && height == 1)
    return fmt::format("{}the last row ({})", all, row_name(p.last_row, shape));
  if (p.cluster == "last rows")
    return fmt::format("{}the last {} of {} rows (from {}: a remainder loop?)", all, height, p.rows,
                       row_name(p.first_row, shape));
  if (p.cluster == "first rows" && height > 1)
    return fmt::format("{}the first {} of {} rows", all, height, p.rows);
  if (p.period > 0)
    return fmt::format("{}every {} row from {} on, {} of {} rows", all, ordinal(p.period),
                       row_name(p.first_row, shape), p.bad_rows, p.rows);
  if (p.bad_rows == height || !whole)
    return all + rows_text(p, shape);
  return fmt::format("{}{} of {} rows, between {} and {}", all, p.bad_rows, p.rows,
                     row_name(p.first_row, shape), row_name(p.last_row, shape));
}

std::string of_columns(const WrongPlace& p, std::span<const std::int64_t> shape, const char* noun) {
  const std::uint64_t width = p.last_column - p.first_column + 1;
  const std::string where = in_which_rows(p, shape);
  if (p.cluster == "last columns")
    return fmt::format("all in {} (the last{}{}){}", columns_text(p, noun),
                       width > 1 ? fmt::format(" {} of {}", width, p.columns) : "",
                       remainder_text(width, p.columns), where);
  if (p.cluster == "first columns")
    return fmt::format("all in {} (the first {} of {}){}", columns_text(p, noun), width, p.columns,
                       where);
  if (p.period > 0)
    return fmt::format("all in every {} {} from {} on (one lane of a vector?){}", ordinal(p.period),
                       noun, p.first_column, where);
  if (p.bad_columns < width && 2 * p.bad_columns < width)
    return fmt::format("all in {} of {} {}s, between {} and {}{}", p.bad_columns, p.columns, noun,
                       p.first_column, p.last_column, where);
  return "all in " + columns_text(p, noun) + where;
}

std::string of_block(const WrongPlace& p, std::span<const std::int64_t> shape, const char* noun) {
  const std::uint64_t height = p.last_row - p.first_row + 1,
                      width = p.last_column - p.first_column + 1;
  const std::string box = rows_text(p, shape) + ", " + columns_text(p, noun);
  const bool last = p.last_row + 1 == p.rows && p.last_column + 1 == p.columns;
  if (10 * p.bad >= 9 * height * width)
    return fmt::format("every element of {} (a {} of {} x {}{})", box, p.cluster, height, width,
                       last ? ", the last one" : "");
  return "all within " + box;
}

} // namespace

std::string place_text(const WrongPlace& p, std::span<const std::int64_t> shape) {
  const std::string_view c = p.cluster;
  const char* noun = shape.size() <= 1 ? "element" : "column";
  if (c == "all")
    return p.bad == p.rows * p.columns ? "every element" : "nearly every element";
  if (c == "element")
    return "a single element";
  if (c == "row" || c == "rows" || c == "first rows" || c == "last rows")
    return of_rows(p, shape);
  if (c == "column" || c == "columns" || c == "first columns" || c == "last columns")
    return of_columns(p, shape, noun);
  if (c == "tile" || c == "block")
    return of_block(p, shape, noun);
  if (c == "tail")
    return fmt::format("the last {} elements, through rows and columns",
                       p.rows * p.columns - p.first_index);
  const std::string within = fmt::format("{} of {} rows and {} of {} columns", p.bad_rows, p.rows,
                                         p.bad_columns, p.columns);
  if (c == "tiles")
    return fmt::format("{} whole tiles of {} x {}, in {}", p.tiles, WrongMap::tile, WrongMap::tile,
                       within);
  return p.rows == 1
             ? fmt::format("scattered between {}s {} and {}", noun, p.first_column, p.last_column)
             : "scattered over " + within;
}

} // namespace kw
