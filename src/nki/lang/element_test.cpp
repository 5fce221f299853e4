// SPDX-License-Identifier: Apache-2.0
#include "nki/lang/element.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace kw::nki {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Element, PromotionIsThatOfTheDocumentation) {
  using enum Element;
  EXPECT_EQ(promote(int32, float16), float16);
  EXPECT_EQ(promote(uint16, tfloat32), tfloat32);
  EXPECT_EQ(promote(float32, tfloat32), float32);
  EXPECT_EQ(promote(float32, bfloat16), float32);
  EXPECT_EQ(promote(float16, bfloat16), float32);
  EXPECT_EQ(promote(float8_e4m3, float16), float16);
  EXPECT_EQ(promote(float8_e4m3, bfloat16), bfloat16);
  EXPECT_EQ(promote(float8_e4m3, float8_e5m2), bfloat16);
  EXPECT_EQ(promote(int16, int32), int32);
  EXPECT_EQ(promote(uint8, uint16), uint16);
  EXPECT_EQ(promote(uint16, int32), int32);
  EXPECT_EQ(promote(int8, uint8), int16);
  EXPECT_EQ(promote(int8, uint16), int32);
  EXPECT_EQ(promote(int32, uint32), float32);
  EXPECT_EQ(promote(float16, float32), float32); // weak scalars are float32
  EXPECT_EQ(promote(int8, int32), int32);
}

TEST(Element, RoundsToNearestEven) {
  EXPECT_EQ(rounded(Element::bfloat16, 1.00390625F), 1.0F);      // half a step, to even
  EXPECT_EQ(rounded(Element::bfloat16, 1.01171875F), 1.015625F); // half a step, to even
  EXPECT_EQ(rounded(Element::tfloat32, 1.0F + 0x1p-11F), 1.0F);
  EXPECT_EQ(rounded(Element::tfloat32, 1.0F + 0x1.8p-11F), 1.0F + 0x1p-10F);
  EXPECT_EQ(rounded(Element::float16, 65520.0F), infinity);
  EXPECT_EQ(rounded(Element::float8_e5m2, 1.125F), 1.0F);
  EXPECT_EQ(rounded(Element::float8_e5m2, 1.375F), 1.5F);
}

// Legacy e4m3 as Trainium has it: infinity, and 240 as the greatest finite number.
TEST(Element, FloatEightE4M3HasInfinity) {
  EXPECT_EQ(rounded(Element::float8_e4m3, 240.0F), 240.0F);
  EXPECT_EQ(rounded(Element::float8_e4m3, 247.0F), 240.0F);
  EXPECT_EQ(rounded(Element::float8_e4m3, 248.0F), infinity);
  EXPECT_EQ(rounded(Element::float8_e4m3, -1e9F), -infinity);
  EXPECT_EQ(rounded(Element::float8_e4m3, 0x1p-9F), 0x1p-9F);   // the least subnormal
  EXPECT_EQ(rounded(Element::float8_e4m3, 0x1p-10F), 0.0F);     // half of it, to even
  EXPECT_EQ(rounded(Element::float8_e4m3, 0x1.8p-9F), 0x1p-8F); // one and a half, to even
  EXPECT_TRUE(std::isnan(rounded(Element::float8_e4m3, std::nanf(""))));
  EXPECT_EQ(std::signbit(rounded(Element::float8_e4m3, -0.0F)), true);
}

TEST(Element, EveryCodeSurvives) {
  for (const Element e : {Element::float8_e4m3, Element::float8_e5m2})
    for (int code = 0; code < 256; ++code) {
      const auto stored = static_cast<std::byte>(code);
      float x = 0;
      load_floats(e, &stored, 1, &x, 1);
      std::byte back{};
      store_floats(e, &x, &back, 1, 1);
      if (std::isnan(x))
        EXPECT_TRUE(std::isnan(rounded(e, x)));
      else
        EXPECT_EQ(back, stored) << name(e) << ' ' << code;
    }
}

TEST(Element, IntegersSaturateAndRound) {
  EXPECT_EQ(rounded(Element::int8, 127.5F), 127.0F);
  EXPECT_EQ(rounded(Element::int8, -1000.0F), -128.0F);
  EXPECT_EQ(rounded(Element::uint8, -3.0F), 0.0F);
  EXPECT_EQ(rounded(Element::int32, 2.5F), 2.0F);
  EXPECT_EQ(rounded(Element::int32, 3.5F), 4.0F);
  EXPECT_EQ(rounded(Element::int32, 1e20F), 2147483648.0F); // 2^31 - 1, read back as float32
  EXPECT_EQ(rounded(Element::int16, std::nanf("")), 0.0F);
  EXPECT_EQ(rounded(Element::boolean, 0.25F), 1.0F);
}

TEST(Element, NamesOfNumPyToo) {
  EXPECT_EQ(element_from_name("bool"), Element::boolean);
  EXPECT_EQ(element_from_name("float8_e4m3fn"), Element::float8_e4m3);
  EXPECT_EQ(element_from_name("float64"), std::nullopt);
}

} // namespace
} // namespace kw::nki
