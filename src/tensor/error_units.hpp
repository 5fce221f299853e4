// SPDX-License-Identifier: Apache-2.0
// Errors counted in rounding units and pooled over calls: how precise an arithmetic is, apart from
// whether it is within its bound.
#pragma once

#include "base/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kw {

/// An element's error counts in units of u_out y' + u_acc |S| (Bound says what these are); without
/// magnitudes in units of u_out max(y', RMS of y's row), since the error of a sum does not shrink
/// where the sum happens to cancel. Elements count where both sides are finite.
struct ErrorUnits {
  double squares = 0, max = 0;
  std::uint64_t elements = 0;
  /// Errors that no rounding of an exact result explains: above 4 u_out y'.
  std::uint64_t beyond_rounding = 0;
  std::uint64_t inexact = 0; ///< not the number of the type that is nearest to y

  void add(DType dtype, std::span<const std::byte> got, std::span<const double> want,
           std::span<const double> magnitude, double u_acc, std::int64_t row);
  [[nodiscard]] double rms() const;
};

} // namespace kw
