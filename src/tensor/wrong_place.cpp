// SPDX-License-Identifier: Apache-2.0
// A kernel with a fault in its structure is wrong in a shape: that of the loop at fault. Shapes are
// tried from the most telling to the least. Each counts as found when at least 90 % of it is
// wrong, since wrong values may happen to lie within the bound; failing that, when so many errors
// would hardly lie in so small a part by chance.
#include "tensor/wrong_place.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

/// Chance of random errors all lying in a part that is called a cluster: below 1e-6.
constexpr double improbable = 6;

std::uint64_t count(const std::vector<std::uint8_t>& flags) {
  return static_cast<std::uint64_t>(std::count(flags.begin(), flags.end(), 1));
}

/// Distance of the set flags where it is one and the same, above 1, at least twice; else 0.
std::uint64_t period_of(const std::vector<std::uint8_t>& flags) {
  std::uint64_t period = 0, gaps = 0;
  std::size_t last = flags.size();
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == 0)
      continue;
    if (last != flags.size()) {
      if (++gaps > 1 && i - last != period)
        return 0;
      period = i - last;
    }
    last = i;
  }
  return gaps > 1 && period > 1 ? period : 0;
}

bool aligned(std::uint64_t first, std::uint64_t last, std::uint64_t size, std::uint64_t step) {
  return first % step == 0 && ((last + 1) % step == 0 || last + 1 == size);
}

} // namespace

WrongMap::WrongMap(std::uint64_t elements, std::int64_t row)
    : columns_(static_cast<std::uint64_t>(std::max<std::int64_t>(row, 1))),
      rows_((elements + columns_ - 1) / columns_) {}

void WrongMap::add(std::uint64_t index) {
  const std::uint64_t tiles_across = (columns_ + tile - 1) / tile;
  if (bad_++ == 0) {
    first_ = index;
    row_.resize(rows_);
    column_.resize(columns_);
    tile_.resize((rows_ + tile - 1) / tile * tiles_across);
  }
  last_ = index;
  const std::uint64_t row = index / columns_, column = index % columns_;
  row_[row] = column_[column] = 1;
  tile_[row / tile * tiles_across + column / tile] = 1;
}

double WrongMap::touched_area() const {
  const std::uint64_t across = (columns_ + tile - 1) / tile;
  double area = 0;
  for (std::uint64_t i = 0; i < tile_.size(); ++i)
    if (tile_[i] != 0)
      area += static_cast<double>(std::min(tile, rows_ - i / across * tile)) *
              static_cast<double>(std::min(tile, columns_ - i % across * tile));
  return area;
}

/// Too many for too small a part, though not all of it is wrong.
std::string_view WrongMap::concentrated(const WrongPlace& p) const {
  const auto held = [&](std::uint64_t part, std::uint64_t whole) {
    return 4 * part <= whole && static_cast<double>(bad_) * std::log10(static_cast<double>(whole) /
                                                                       static_cast<double>(part)) >
                                    improbable;
  };
  const std::uint64_t height = p.last_row - p.first_row + 1,
                      width = p.last_column - p.first_column + 1;
  const bool in_rows = held(height, rows_), in_columns = held(width, columns_);
  if (in_rows && height == 1)
    return "row";
  if (in_columns && width == 1)
    return "column";
  if (in_rows && in_columns)
    return "block";
  if (in_columns)
    return p.last_column + 1 == columns_ ? "last columns"
           : p.first_column == 0         ? "first columns"
                                         : "columns";
  if (in_rows)
    return p.last_row + 1 == rows_ ? "last rows" : p.first_row == 0 ? "first rows" : "rows";
  return "scattered";
}

std::string_view WrongMap::cluster(WrongPlace& p) const {
  const auto area = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  const auto most_of = [&](double whole) { return static_cast<double>(bad_) >= 0.9 * whole; };
  const std::uint64_t height = p.last_row - p.first_row + 1,
                      width = p.last_column - p.first_column + 1;
  if (bad_ == 1)
    return "element";
  if (static_cast<double>(bad_) >= 0.95 * area(rows_, columns_))
    return "all";
  if (columns_ > 1 ? most_of(area(p.bad_rows, columns_)) : rows_ > 1 && p.bad_rows > 1) {
    if (p.bad_rows == height && most_of(area(height, columns_))) {
      if (p.last_row + 1 == rows_)
        return "last rows";
      if (p.bad_rows == 1)
        return "row";
      if (p.first_row == 0)
        return "first rows";
      return "rows";
    }
    p.period = period_of(row_);
    if (columns_ > 1 || p.period > 0)
      return "rows";
  }
  const bool solid = most_of(area(height, width));
  if (solid && height > 1 && width > 1 && height < rows_ && width < columns_)
    return aligned(p.first_row, p.last_row, rows_, 4) &&
                   aligned(p.first_column, p.last_column, columns_, 8)
               ? "tile"
               : "block";
  // Of a single row any set of columns is filled: there it takes a run of them or equal distances.
  const bool regular = p.bad_rows > 1 || p.bad_columns == width || period_of(column_) > 0;
  if (columns_ > 1 && regular && most_of(area(p.bad_rows, p.bad_columns))) {
    const bool run = p.bad_columns == width && 2 * width <= columns_;
    if (run && p.last_column + 1 == columns_)
      return "last columns";
    if (width == 1)
      return "column";
    if (run && p.first_column == 0)
      return "first columns";
    p.period = period_of(column_);
    return "columns";
  }
  const std::uint64_t elements = rows_ * columns_;
  if (last_ + 1 == elements && most_of(static_cast<double>(elements - first_)))
    return "tail";
  if (p.tiles > 1 && p.tiles < tile_.size() && columns_ >= 2 * tile && most_of(touched_area()))
    return "tiles";
  return concentrated(p);
}

WrongPlace WrongMap::place() const {
  KW_ASSERT(bad_ > 0);
  const auto first = [](const std::vector<std::uint8_t>& f) {
    return static_cast<std::uint64_t>(std::find(f.begin(), f.end(), 1) - f.begin());
  };
  const auto last = [](const std::vector<std::uint8_t>& f) {
    return static_cast<std::uint64_t>(f.rend() - std::find(f.rbegin(), f.rend(), 1)) - 1;
  };
  WrongPlace p{.cluster = {},
               .rows = rows_,
               .columns = columns_,
               .bad = bad_,
               .bad_rows = count(row_),
               .bad_columns = count(column_),
               .first_row = first(row_),
               .last_row = last(row_),
               .first_column = first(column_),
               .last_column = last(column_),
               .period = 0,
               .tiles = count(tile_),
               .first_index = first_};
  p.cluster = cluster(p);
  return p;
}

} // namespace kw
