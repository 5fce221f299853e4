// SPDX-License-Identifier: Apache-2.0
#include "service/c_api.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(CParameters, InputsOutputsThenVariableAxes) {
  Definition d;
  d.axes = {{.name = "rows", .value = {}}, {.name = "n", .value = 8}, {.name = "k", .value = {}}};
  d.inputs = {{.name = "x", .shape = {{"rows", "n"}}, .dtype = DType::bfloat16},
              {.name = "a", .shape = {}, .dtype = DType::float32}};
  d.outputs = {{.name = "y", .shape = {{"rows"}}, .dtype = DType::float64}};
  EXPECT_EQ(c_parameters(d), "const uint16_t* x, float a, double* y, int64_t rows, int64_t k");
  EXPECT_EQ(c_parameters({}), "");
}

TEST(CParameters, TensorTypesAreStorageTypes) {
  const std::pair<DType, const char*> types[] = {
      {DType::float64, "double"},        {DType::float32, "float"},
      {DType::float16, "uint16_t"},      {DType::bfloat16, "uint16_t"},
      {DType::float8_e4m3fn, "uint8_t"}, {DType::float8_e5m2, "uint8_t"},
      {DType::float4_e2m1, "uint8_t"},   {DType::int64, "int64_t"},
      {DType::int32, "int32_t"},         {DType::int16, "int16_t"},
      {DType::int8, "int8_t"},           {DType::boolean, "uint8_t"},
  };
  for (const auto& [dtype, type] : types) {
    Definition d;
    d.outputs = {{.name = "y", .shape = {{"n"}}, .dtype = dtype}};
    EXPECT_EQ(c_parameters(d), std::string(type) + "* y") << name(dtype);
  }
}

TEST(CParameters, ScalarsAreWhatTheRegistersHold) {
  const std::pair<DType, const char*> types[] = {
      {DType::float64, "double"},  {DType::float32, "float"},     {DType::float16, "float"},
      {DType::bfloat16, "float"},  {DType::float8_e5m2, "float"}, {DType::float4_e2m1, "float"},
      {DType::int64, "int64_t"},   {DType::int32, "int64_t"},     {DType::int8, "int64_t"},
      {DType::boolean, "int64_t"},
  };
  for (const auto& [dtype, type] : types) {
    Definition d;
    d.inputs = {{.name = "a", .shape = {}, .dtype = dtype}};
    EXPECT_EQ(c_parameters(d), std::string(type) + " a") << name(dtype);
  }
}

} // namespace
} // namespace kw
