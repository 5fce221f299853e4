// SPDX-License-Identifier: Apache-2.0
// Element types of NKI tensors: how they are stored, rounded and promoted.
// Source: NKI API Common Fields ("Supported Data Types", "NKI Type Promotion"), Neuron SDK 2.24.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kw::nki {

enum class Element : std::uint8_t {
  boolean, ///< stored as a byte
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float8_e4m3, ///< 1-4-3 with infinity, largest finite value 240
  float8_e5m2,
  float16,
  bfloat16,
  tfloat32, ///< 1-8-10 in four bytes
  float32,
};
inline constexpr int element_count = 13;

[[nodiscard]] std::string_view name(Element e); ///< as in nki.language: "bfloat16", "bool_"
/// Names of nki.language, of NumPy and of ml_dtypes; "float8_e4m3fn" too.
[[nodiscard]] std::optional<Element> element_from_name(std::string_view s);
[[nodiscard]] std::size_t bytes_of(Element e);
[[nodiscard]] bool is_floating(Element e);
[[nodiscard]] bool is_integer(Element e); ///< bool is neither
[[nodiscard]] bool is_signed(Element e);

/// Result type of an arithmetic operation on both.
[[nodiscard]] Element promote(Element a, Element b);

/// A float32 result as the engine stores it: floats to nearest, ties to even; integers to nearest
/// even and saturated, NaN gives 0; bool: 1 unless it is 0.
[[nodiscard]] float rounded(Element e, float x);

/// `n` elements from storage to float32 and back, `stride` elements apart in storage. An int32
/// beyond 2^24 is rounded: that is what the engines do.
void load_floats(Element e, const std::byte* from, std::int64_t stride, float* to, std::int64_t n);
void store_floats(Element e, const float* from, std::byte* to, std::int64_t stride, std::int64_t n);
/// Bit patterns of integers (sign-extended), for bitvec operators and exact 32-bit integer work.
void load_integers(Element e, const std::byte* from, std::int64_t stride, std::int64_t* to,
                   std::int64_t n);
/// Wraps to the width of `e`.
void store_integers(Element e, const std::int64_t* from, std::byte* to, std::int64_t stride,
                    std::int64_t n);

} // namespace kw::nki
