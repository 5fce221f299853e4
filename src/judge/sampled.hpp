// SPDX-License-Identifier: Apache-2.0
// Verification of outputs too large for the full oracle. Of a matrix product: a Freivalds
// projection over the whole output plus 64 exact rows and 64 exact columns (tensor/freivalds.hpp
// has the bound). Of anything else: 128 exact rows, and no element that is not finite.
#pragma once

#include "judge/binding.hpp"
#include "model/verdict.hpp"
#include "oracle/oracle.hpp"
#include "tensor/compare.hpp"
#include "tensor/freivalds.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kw {

/// Oracle values for the sampled check of one two-dimensional output. Without `signs` only rows.
struct SampledExpectation {
  FreivaldsSigns signs;
  std::vector<double> yx, magx;         ///< [rows, blocks]
  std::vector<std::int64_t> rows, cols; ///< exact positions
  std::vector<double> row_y, row_s;     ///< [rows.size(), all columns]
  std::vector<double> col_y, col_s;     ///< [all rows, cols.size()]
};

/// Rows, and columns, beside a projection.
inline constexpr std::int64_t exact_lines = 64;
/// Rows where there is no projection.
inline constexpr std::int64_t exact_rows_alone = 128;

/// Whether outputs of this workload can be judged by parts: one output, whose elements have one
/// right answer each, and an oracle that knows parts of it.
[[nodiscard]] bool can_sample(const BoundWorkload& workload, const Oracle& oracle);

/// Rows (all axes but the last) and columns of an output.
struct Extent {
  std::int64_t rows = 0, cols = 0, blocks = 0;
};
[[nodiscard]] Extent extent(const BoundOutput& output);

[[nodiscard]] CompareResult compare_sampled(const BoundOutput& output,
                                            std::span<const std::byte> got,
                                            const SampledExpectation& expected, const Bound& bound);

/// What a trial judged by rows alone adds to the evidence; empty with a projection.
[[nodiscard]] std::optional<RowEvidence> row_evidence(const BoundOutput& output,
                                                      const SampledExpectation& expected);
void add(std::optional<RowEvidence>& sum, const std::optional<RowEvidence>& one);

/// "128 of 14107 rows compared in each of 3 trials (...): a fault in 0.79 % of the rows would have
/// been seen with a probability of 95 %".
[[nodiscard]] std::string row_sentence(const RowEvidence& rows);

} // namespace kw
