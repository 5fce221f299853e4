// SPDX-License-Identifier: Apache-2.0
// Solutions that do not do the work. A task whose own check lets one of them pass, or nearly so,
// measures nothing: `kernwright check --lint` holds every task against them (task_lint.hpp).
#pragma once

#include "base/dtype.hpp"
#include "judge/binding.hpp"
#include "tensor/compare.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kw {

enum class NullKind {
  zeros,       ///< an output is all zeros
  constant,    ///< an output is one number, the best there is, in every trial
  trial_mean,  ///< an output is the same in every trial: the mean of two trials, element by element
  output_mean, ///< all elements of an output are its mean
  copy,        ///< an output is an input of as many elements
  narrow_inputs,  ///< the right answer to inputs rounded to a fraction of their significand
  input_of_zeros, ///< the right answer to other inputs: one of them is all zeros
  input_of_ones,  ///< the same with ones
};

/// One of them for a given task. Kinds that replace one output leave the others right.
struct NullSolution {
  NullKind kind = NullKind::zeros;
  std::size_t output = 0;       ///< zeros ... copy
  std::size_t input = 0;        ///< copy, input_of_zeros, input_of_ones
  DType dtype = DType::float32; ///< narrow_inputs: the inputs of this type are rounded
  int bits = 0;                 ///< narrow_inputs: to so many bits
  friend bool operator==(const NullSolution&, const NullSolution&) = default;
};

/// How much wider than stated the bounds must be before a null solution may pass: ten times. Where
/// an output has 8 bits or fewer, one rounding is a sixteenth to a quarter of the answer, and no
/// honest tolerance keeps even zeros ten times away: twice.
[[nodiscard]] double lint_margin(const BoundWorkload& workload);

/// All that this workload gives room for. An input is not replaced where the contract fixes its
/// content, nor indices by a one that is out of range.
[[nodiscard]] std::vector<NullSolution> null_solutions(const BoundWorkload& workload);

/// "zeros as `y`", "`bias` taken for zeros", "float32 inputs in 8 bits".
[[nodiscard]] std::string describe(const NullSolution& null, const BoundWorkload& workload);
/// What makes a task reject it.
[[nodiscard]] std::string remedy(const NullSolution& null, const BoundWorkload& workload);

/// Bits of significand that `narrow_inputs` leaves: a third, as bfloat16 has of float32 (float64:
/// those of float32), of the input's type or of the finest output's, if that has fewer, since an
/// output cannot show what it has no digits for. Empty where the input's type has none to spare.
[[nodiscard]] std::optional<int> narrow_bits(DType input, const BoundWorkload& workload);
/// `x` to that many bits, to nearest, ties to even; the exponent stays.
[[nodiscard]] double round_significand(double x, int bits);
/// The same for a stored tensor.
void narrow(DType dtype, int bits, std::span<std::byte> tensor);

/// Sets every element to `value`.
void fill(DType dtype, double value, std::span<std::byte> tensor);

/// Whether one number lies within the bounds of all elements seen so far: intervals
/// [y - f b, y + f b] are intersected, for several widths f of the bounds.
class ConstantRange {
 public:
  static constexpr std::array<double, 7> widths{0.01, 0.1, 0.3, 1, 2, 5, 10};

  void add(const Bound& bound, DType dtype, std::span<const double> y,
           std::span<const double> magnitude);
  /// Smallest of the widths at which some constant passes; empty = none does.
  [[nodiscard]] std::optional<double> margin() const;
  /// A constant that passes at that width.
  [[nodiscard]] double constant() const;

 private:
  void note(double y, double allowed);
  std::array<double, widths.size()> low_ = filled(-1), high_ = filled(1);
  bool all_nan_ = true, any_ = false;

  static std::array<double, widths.size()> filled(int sign);
  [[nodiscard]] std::optional<std::size_t> narrowest() const;
};

} // namespace kw
