// SPDX-License-Identifier: Apache-2.0
// How far off an output and its parts are. Passes over the whole output of their own: for outputs
// that were found wrong, and for one clean trial in many.
#pragma once

#include "base/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kw {

/// Errors as ||got - want|| / ||want|| (Frobenius): of the output, and the largest of a row and of
/// a tile of 16 x 16 (WrongPlace says what rows and columns are). Infinite where NaN or infinity
/// stands on one side only, or `want` is all zeros and `got` is not.
struct ErrorRegions {
  double relative = 0;
  std::uint64_t worst_row = 0;
  double worst_row_error = 0;
  std::uint64_t worst_tile_row = 0, worst_tile_column = 0; ///< its first element
  double worst_tile_error = 0;
};
[[nodiscard]] ErrorRegions error_regions(DType dtype, std::span<const std::byte> got,
                                         std::span<const double> want, std::int64_t row);

/// Largest distance between `got` and `want` rounded to the type, in steps from one number of the
/// type to the next (0 = the nearest number everywhere). Elements count where both are finite and
/// |want| is a normal number. 0 for float4 and for types that are not floats.
[[nodiscard]] double max_ulp(DType dtype, std::span<const std::byte> got,
                             std::span<const double> want);

} // namespace kw
