// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.hpp"

#include <array>

namespace kw {
namespace {

struct Row {
  DType type;
  std::string_view name, c_type;
  int bits;
  bool floating;
  double roundoff;
};

constexpr std::array<Row, 12> rows{{
    {DType::float64, "float64", "double", 64, true, 0x1p-53},
    {DType::float32, "float32", "float", 32, true, 0x1p-24},
    {DType::float16, "float16", "uint16_t", 16, true, 0x1p-11},
    {DType::bfloat16, "bfloat16", "uint16_t", 16, true, 0x1p-8},
    {DType::float8_e4m3fn, "float8_e4m3fn", "uint8_t", 8, true, 0x1p-4},
    {DType::float8_e5m2, "float8_e5m2", "uint8_t", 8, true, 0x1p-3},
    {DType::float4_e2m1, "float4_e2m1", "uint8_t", 4, true, 0x1p-2},
    {DType::int64, "int64", "int64_t", 64, false, 0},
    {DType::int32, "int32", "int32_t", 32, false, 0},
    {DType::int16, "int16", "int16_t", 16, false, 0},
    {DType::int8, "int8", "int8_t", 8, false, 0},
    {DType::boolean, "bool", "uint8_t", 8, false, 0},
}};

const Row& row(DType t) {
  return rows[static_cast<std::size_t>(t)];
}

} // namespace

int bit_width(DType t) {
  return row(t).bits;
}

std::size_t byte_size(DType t, std::int64_t n) {
  return (static_cast<std::size_t>(n) * static_cast<std::size_t>(row(t).bits) + 7) / 8;
}

std::string_view name(DType t) {
  return row(t).name;
}

std::optional<DType> dtype_from_name(std::string_view s) {
  for (const Row& r : rows)
    if (r.name == s)
      return r.type;
  return std::nullopt;
}

std::string_view c_type(DType t) {
  return row(t).c_type;
}

std::string_view c_scalar_type(DType t) {
  return t == DType::float64 ? "double" : is_float(t) ? "float" : "int64_t";
}

bool is_float(DType t) {
  return row(t).floating;
}
double unit_roundoff(DType t) {
  return row(t).roundoff;
}

} // namespace kw
