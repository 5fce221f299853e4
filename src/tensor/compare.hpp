// SPDX-License-Identifier: Apache-2.0
// Element-wise comparison with the fp64 oracle. The predicate is written positively
// (ok = err <= bound; NaN therefore fails), classes (NaN, +Inf, -Inf) are matched before
// arithmetic.
#pragma once

#include "base/dtype.hpp"
#include "tensor/wrong_place.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace kw {

struct Bound {
  double eta = 0;   ///< multiplies u_out |y| + u_acc S
  double u_out = 0; ///< unit roundoff of the output dtype
  double u_acc = 0; ///< unit roundoff of the accumulator
  double rtol = 0;
  double atol = 0; ///< absolute, already scaled by the output's RMS
  bool exact = false;
};

struct CompareResult {
  std::uint64_t elements = 0, bad = 0;
  std::uint64_t first_bad = 0;         ///< flat index
  double got = 0, want = 0, bound = 0; ///< at first_bad
  double max_abs = 0, max_rel = 0;
  double max_eta = 0;                 ///< max of err / (u_out y + u_acc S)
  std::uint64_t class_mismatches = 0; ///< NaN/Inf disagreements
  std::string pattern;                ///< "", "all", "tail", "rows", "scattered", "non-finite"
  std::optional<WrongPlace> place;    ///< of the bad elements; empty when there are none
};

/// An element is right when
///   want is NaN or infinite: got is what storing it gives (NaN for NaN, the same infinity);
///   both finite:             |got - want| <= eta (u_out y + u_acc S) + atol + rtol y, where
///                            y = max(|want|, least normal number of the dtype), as rounding is
///                            absolute below that number;
///   only got is not finite:  never, unless want itself is within the bound of the overflow
///                            threshold of the dtype and got is what overflow gives there.
/// float8 formats may saturate instead of overflowing (both are OCP conversions). A magnitude that
/// is not finite adds nothing to the bound; a bound that is not finite passes nothing. With `exact`
/// the stored value must be `want` rounded to the dtype; +0 and -0 count as equal.
///
/// Patterns: "non-finite" at least half of the bad elements disagree in class; "all" 95 % are bad;
/// "tail" the end of the tensor, or the last quarter of rows; "rows" whole rows; else "scattered".
/// After a class mismatch max_abs, max_rel and max_eta are infinite.
///
/// `got` in storage dtype, `want` and `magnitude` (may be empty) in fp64; `row` = last-axis length.
CompareResult compare(DType dtype, std::span<const std::byte> got, std::span<const double> want,
                      std::span<const double> magnitude, const Bound& bound, std::int64_t row);

/// Root mean square of the finite elements of `want`.
double rms(std::span<const double> want);

} // namespace kw
