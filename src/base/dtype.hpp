// SPDX-License-Identifier: Apache-2.0
// Element types of the FlashInfer-Bench schema, plus float64 for oracles (never in a Definition).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kw {

enum class DType : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3fn,
  float8_e5m2,
  float4_e2m1,
  int64,
  int32,
  int16,
  int8,
  boolean,
};

/// Bits of one element: 4 for float4_e2m1 (two per byte, low nibble first), else a multiple of 8.
[[nodiscard]] int bit_width(DType t);
/// Bytes that `n` elements occupy, rounded up.
[[nodiscard]] std::size_t byte_size(DType t, std::int64_t n);
/// Schema name, e.g. "float8_e4m3fn"; "bool" for boolean.
[[nodiscard]] std::string_view name(DType t);
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view s);
[[nodiscard]] bool is_float(DType t);
/// C type of an element behind a kernel's pointer (docs/abi.md): "uint16_t" for the bits of a
/// bfloat16.
[[nodiscard]] std::string_view c_type(DType t);
/// C type of a scalar argument: narrow floats travel as float, integers as int64_t (docs/abi.md).
[[nodiscard]] std::string_view c_scalar_type(DType t);
/// Unit roundoff u = 2^-p of round-to-nearest (0 for integers): float32 2^-24, bfloat16 2^-8, ...
[[nodiscard]] double unit_roundoff(DType t);

} // namespace kw
