// SPDX-License-Identifier: Apache-2.0
#include "tensor/error_regions.hpp"

#include "base/result.hpp"
#include "tensor/convert.hpp"
#include "tensor/wrong_place.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace kw {
namespace {

constexpr std::size_t block_size = 512;

/// Squares of errors and of what should be.
struct Norm {
  double error = 0, want = 0;

  void add(double got, double wanted) {
    if (!std::isfinite(wanted)) {
      const bool same = std::isnan(wanted) ? std::isnan(got) : got == wanted;
      error = same ? error : std::numeric_limits<double>::infinity();
      return;
    }
    const double off = std::isfinite(got) ? got - wanted : std::numeric_limits<double>::infinity();
    error += off * off;
    want += wanted * wanted;
  }
  [[nodiscard]] double ratio() const {
    return error == 0 ? 0
           : want > 0 ? std::sqrt(error / want)
                      : std::numeric_limits<double>::infinity();
  }
};

/// Codes of sign and magnitude in ascending order of the numbers they stand for.
std::int64_t place_in_order(const std::byte* at, std::size_t width) {
  std::uint64_t code = 0;
  std::memcpy(&code, at, width);
  const std::uint64_t sign = std::uint64_t{1} << (8 * width - 1);
  const auto magnitude = static_cast<std::int64_t>(code & (sign - 1));
  return (code & sign) != 0 ? -magnitude : magnitude;
}

} // namespace

ErrorRegions error_regions(DType dtype, std::span<const std::byte> got,
                           std::span<const double> want, std::int64_t row) {
  KW_ASSERT(got.size() >= byte_size(dtype, static_cast<std::int64_t>(want.size())));
  const auto columns = static_cast<std::uint64_t>(std::max<std::int64_t>(row, 1));
  constexpr std::uint64_t tile = WrongMap::tile;
  ErrorRegions out;
  Norm all, of_row;
  std::vector<Norm> tiles((columns + tile - 1) / tile); // of the rows at hand
  const auto end_row = [&](std::uint64_t r) {
    if (const double error = of_row.ratio(); error > out.worst_row_error)
      out.worst_row_error = error, out.worst_row = r;
    of_row = {};
  };
  const auto end_tiles = [&](std::uint64_t r) {
    for (std::uint64_t t = 0; t < tiles.size(); ++t)
      if (const double error = tiles[t].ratio(); error > out.worst_tile_error) {
        out.worst_tile_error = error;
        out.worst_tile_row = r / tile * tile, out.worst_tile_column = t * tile;
      }
    std::fill(tiles.begin(), tiles.end(), Norm{});
  };
  std::array<double, block_size> block{};
  std::uint64_t r = 0, c = 0;
  for (std::size_t at = 0; at < want.size(); at += block_size) {
    const std::size_t n = std::min(block_size, want.size() - at);
    to_double(dtype, got.subspan(byte_size(dtype, static_cast<std::int64_t>(at))),
              std::span(block).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      all.add(block[i], want[at + i]);
      of_row.add(block[i], want[at + i]);
      tiles[c / tile].add(block[i], want[at + i]);
      if (++c < columns)
        continue;
      end_row(r);
      if (r % tile == tile - 1)
        end_tiles(r);
      ++r, c = 0;
    }
  }
  if (c > 0)
    end_row(r);
  if (r > 0 || c > 0)
    end_tiles(c > 0 ? r : r - 1);
  out.relative = all.ratio();
  return out;
}

double max_ulp(DType dtype, std::span<const std::byte> got, std::span<const double> want) {
  if (!is_float(dtype) || byte_size(dtype, 2) < 2) // float4: two in a byte, and nothing to count
    return 0;
  const std::size_t width = byte_size(dtype, 1);
  const double least = min_normal(dtype), most = overflow_threshold(dtype);
  std::array<std::byte, block_size * 8> nearest{};
  std::array<double, block_size> have{};
  std::int64_t greatest = 0;
  for (std::size_t at = 0; at < want.size(); at += block_size) {
    const std::size_t n = std::min(block_size, want.size() - at);
    const auto stored = got.subspan(byte_size(dtype, static_cast<std::int64_t>(at)), n * width);
    from_double(dtype, want.subspan(at, n), nearest);
    if (std::memcmp(stored.data(), nearest.data(), n * width) == 0)
      continue;
    to_double(dtype, stored, std::span(have).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      const double y = std::fabs(want[at + i]);
      if (!(y >= least && y < most) || !std::isfinite(have[i]))
        continue;
      const std::int64_t a = place_in_order(stored.data() + i * width, width),
                         b = place_in_order(nearest.data() + i * width, width);
      // Far apart on either side of zero in float64: the difference would not fit.
      const double distance = std::fabs(static_cast<double>(a) - static_cast<double>(b));
      greatest = std::max(greatest, distance < 0x1p62 ? std::abs(a - b) : std::int64_t{1} << 62);
    }
  }
  return static_cast<double>(greatest);
}

} // namespace kw
