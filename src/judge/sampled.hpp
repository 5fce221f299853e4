// SPDX-License-Identifier: Apache-2.0
// Verification of outputs too large for the full oracle: a Freivalds projection over the whole
// output plus 64 exact rows and 64 exact columns (tensor/freivalds.hpp has the bound).
#pragma once

#include "judge/binding.hpp"
#include "tensor/compare.hpp"
#include "tensor/freivalds.hpp"

#include <cstdint>
#include <vector>

namespace kw {

/// Oracle values for the sampled check of one two-dimensional output.
struct SampledExpectation {
  FreivaldsSigns signs;
  std::vector<double> yx, magx;         ///< [rows, blocks]
  std::vector<std::int64_t> rows, cols; ///< exact positions
  std::vector<double> row_y, row_s;     ///< [rows.size(), all columns]
  std::vector<double> col_y, col_s;     ///< [all rows, cols.size()]
};

inline constexpr std::int64_t exact_lines = 64;

/// Rows (all axes but the last) and columns of an output.
struct Extent {
  std::int64_t rows = 0, cols = 0, blocks = 0;
};
[[nodiscard]] Extent extent(const BoundOutput& output);

[[nodiscard]] CompareResult compare_sampled(const BoundOutput& output,
                                            std::span<const std::byte> got,
                                            const SampledExpectation& expected, const Bound& bound);

} // namespace kw
