// SPDX-License-Identifier: Apache-2.0
// Storage dtypes <-> double and float, one element or many. Formats and overflow rules are in
// small_float.hpp. Buffers may have any alignment.
#pragma once

#include "base/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kw {

/// Exact, except int64 beyond 2^53 (rounded to nearest). `in` holds byte_size(t, out.size()) bytes.
/// bool gives the stored byte, so that a byte that is neither 0 nor 1 differs from every valid
/// value.
void to_double(DType t, std::span<const std::byte> in, std::span<double> out);

/// Rounds once, to nearest, ties to even. Integers: rounded, saturated, NaN gives 0. bool: 1 unless
/// the value is 0 (NaN is true, as in C++). The unused high nibble of an odd float4 tail becomes 0.
void from_double(DType t, std::span<const double> in, std::span<std::byte> out);
void from_float(DType t, std::span<const float> in, std::span<std::byte> out);

/// Element `index` of a buffer.
double element(DType t, std::span<const std::byte> buffer, std::size_t index);
/// `x` rounded to the storage format and back: what an ideal kernel would have stored.
double round_to(DType t, double x);

/// Largest finite number (integers: largest value).
double max_finite(DType t);
/// Least positive normal number, and least positive subnormal (1 for integers).
double min_normal(DType t);
double min_subnormal(DType t);
/// The least magnitude that rounds to something else than a finite number: max + half a step.
/// Infinity where nothing does (float4, integers: they saturate).
double overflow_threshold(DType t);
[[nodiscard]] bool has_infinity(DType t);
[[nodiscard]] bool has_nan(DType t);

} // namespace kw
