// SPDX-License-Identifier: Apache-2.0
#include "judge/null_solutions.hpp"

#include "tensor/convert.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace kw {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

BoundInput input(const std::string& name, std::vector<std::int64_t> shape, DType dtype,
                 const std::string& kind = "any") {
  BoundInput in;
  in.name = name;
  in.draw = {.dtype = dtype, .shape = std::move(shape), .kind = kind};
  return in;
}

BoundOutput output(const std::string& name, std::int64_t elements) {
  BoundOutput out;
  out.name = name;
  out.shape = {elements};
  out.elements = elements;
  return out;
}

std::vector<std::string> names(const BoundWorkload& w) {
  std::vector<std::string> out;
  for (const NullSolution& null : null_solutions(w)) {
    out.push_back(describe(null, w));
    EXPECT_FALSE(remedy(null, w).empty()) << out.back();
  }
  return out;
}

TEST(NullSolutions, EveryOutputAndEveryInputHasItsOwn) {
  BoundWorkload w;
  w.inputs = {input("x", {2, 4}, DType::float32), input("w", {4}, DType::bfloat16),
              input("b", {4}, DType::float32)};
  w.outputs = {output("y", 8), output("total", 1)};
  EXPECT_THAT(names(w),
              ElementsAre("zeros as `y`", "one constant as `y`", "the same `y` in every trial",
                          "its mean in every element of `y`", "a copy of `x` as `y`",
                          "zeros as `total`", "one constant as `total`",
                          "the same `total` in every trial", "float32 inputs in 8 significant bits",
                          "bfloat16 inputs in 2 significant bits", "`x` taken for zeros",
                          "`x` taken for ones", "`w` taken for zeros", "`w` taken for ones",
                          "`b` taken for zeros", "`b` taken for ones"));
}

TEST(NullSolutions, AContractThatFixesAnInputIsNotHeldAgainstTheTask) {
  BoundWorkload w;
  w.inputs = {input("mask", {4}, DType::float32, "constant"),
              input("at", {3}, DType::int32, "indices"), input("none", {0}, DType::float32),
              input("slot", {3}, DType::int32, "slots")};
  w.inputs[0].draw.value = 1;
  w.inputs[1].draw.limit = w.inputs[3].draw.limit = 1; // zero is the only index
  w.outputs = {output("y", 8), output("empty", 0)};
  const std::vector<std::string> all = names(w);
  EXPECT_THAT(all, Not(Contains("`mask` taken for ones")));
  EXPECT_THAT(all, Contains("`mask` taken for zeros"));
  EXPECT_THAT(all, Not(Contains("`at` taken for ones")));
  EXPECT_THAT(all, Not(Contains("`slot` taken for ones")));
  for (const std::string& n : all) {
    EXPECT_THAT(n, Not(HasSubstr("empty")));
    EXPECT_THAT(n, Not(HasSubstr("none")));
  }
}

TEST(NullSolutions, SignificandsAreRoundedToNearestEven) {
  EXPECT_EQ(round_significand(1 + 0x1p-8, 8), 1);
  EXPECT_EQ(round_significand(1 + 3 * 0x1p-8, 8), 1 + 0x1p-6);
  EXPECT_EQ(round_significand(-1.3, 2), -1.5);
  EXPECT_EQ(round_significand(1.9, 2), 2);
  EXPECT_EQ(round_significand(1.3 * 0x1p-900, 8), round_significand(1.3, 8) * 0x1p-900)
      << "no exponent is out of range";
  EXPECT_EQ(round_significand(0, 8), 0);
  EXPECT_EQ(round_significand(-infinity, 8), -infinity);
  EXPECT_TRUE(std::isnan(round_significand(nan, 8)));
}

TEST(NullSolutions, NarrowingFloat32IsRoundingToBfloat16) {
  const std::vector<float> values{1.00390625F, 3.14159274F, -0.1F, 6e-39F, 0};
  for (const float v : values) {
    float narrowed = v;
    narrow(DType::float32, 8, std::as_writable_bytes(std::span(&narrowed, 1)));
    if (std::fabs(v) >= 0x1p-126F || v == 0) {
      EXPECT_EQ(static_cast<double>(narrowed), round_to(DType::bfloat16, static_cast<double>(v)));
    } else {
      EXPECT_NEAR(static_cast<double>(narrowed), static_cast<double>(v), 6e-41) << "subnormal";
    }
  }
}

TEST(NullSolutions, NarrowingStopsAtWhatAnOutputCanShow) {
  BoundWorkload w;
  w.outputs = {output("y", 8)};
  EXPECT_EQ(narrow_bits(DType::float64, w), 8);
  EXPECT_EQ(narrow_bits(DType::float32, w), 8);
  EXPECT_EQ(narrow_bits(DType::float16, w), 3);
  EXPECT_EQ(narrow_bits(DType::bfloat16, w), 2);
  EXPECT_EQ(narrow_bits(DType::float8_e4m3fn, w), std::nullopt);
  EXPECT_EQ(narrow_bits(DType::int64, w), std::nullopt);
  w.outputs[0].dtype = DType::bfloat16; // the rounding of a conversion is no shortcut
  EXPECT_EQ(narrow_bits(DType::float32, w), 2);
  w.outputs[0].dtype = DType::float8_e4m3fn;
  EXPECT_EQ(narrow_bits(DType::float32, w), 1);
  w.outputs.push_back(output("lse", 1));
  EXPECT_EQ(narrow_bits(DType::float32, w), 8) << "the finest output decides";
  w.outputs[1].dtype = DType::float64;
  EXPECT_EQ(narrow_bits(DType::float64, w), 24);
  w.outputs[1].dtype = DType::int32; // an argmax sees every bit
  EXPECT_EQ(narrow_bits(DType::float32, w), 8);
}

TEST(NullSolutions, LongTensorsAreNarrowedThroughout) {
  std::vector<float> values(1300, 1.01F);
  narrow(DType::float32, 8, std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return v == 1.0078125F; }));
}

TEST(NullSolutions, FillingKnowsTheFormats) {
  std::vector<std::byte> bytes(8);
  fill(DType::bfloat16, 1, bytes);
  EXPECT_EQ(element(DType::bfloat16, bytes, 3), 1);
  fill(DType::float4_e2m1, 1, bytes);
  EXPECT_EQ(element(DType::float4_e2m1, bytes, 15), 1);
  fill(DType::int64, 1, bytes);
  EXPECT_EQ(element(DType::int64, bytes, 0), 1);
  fill(DType::boolean, 0, bytes);
  EXPECT_EQ(element(DType::boolean, bytes, 5), 0);
}

std::optional<double> margin_of(const std::vector<double>& y, const Bound& bound) {
  ConstantRange range;
  range.add(bound, DType::float32, y, {});
  return range.margin();
}

TEST(ConstantRange, FindsTheConstantThatPasses) {
  ConstantRange range;
  const Bound bound{.rtol = 0.01};
  EXPECT_EQ(range.margin(), 0.01) << "nothing seen, nothing excluded";
  range.add(bound, DType::float32, std::vector<double>{1.0, 1.01}, {});
  EXPECT_EQ(range.margin(), 1);
  EXPECT_NEAR(range.constant(), 1.005, 0.005);
  range.add(bound, DType::float32, std::vector<double>{1.05}, {});
  EXPECT_EQ(range.margin(), 5) << "1 + 0.01 f meets 1.05 - 0.0105 f at 2.4";
  range.add(bound, DType::float32, std::vector<double>{2}, {});
  EXPECT_EQ(range.margin(), std::nullopt);
  EXPECT_TRUE(std::isnan(range.constant()));
}

TEST(ConstantRange, ZeroIsWithinTenTimesATenthOfEverything) {
  EXPECT_EQ(margin_of({1, -40}, {.rtol = 0.1}), 10);
  EXPECT_EQ(margin_of({1, -40}, {.rtol = 0.09}), std::nullopt);
}

TEST(NullSolutions, CoarseOutputsLeaveRoomForASmallerMarginOnly) {
  BoundWorkload w;
  w.outputs = {output("y", 8), output("z", 8)};
  EXPECT_EQ(lint_margin(w), 10);
  w.outputs[1].dtype = DType::bfloat16;
  EXPECT_EQ(lint_margin(w), 10);
  w.outputs[1].dtype = DType::float8_e4m3fn;
  EXPECT_EQ(lint_margin(w), 2);
  w.outputs[1].dtype = DType::int8;
  EXPECT_EQ(lint_margin(w), 10) << "exact, whatever the width";
}

TEST(ConstantRange, BoundsAreTheComparisons) {
  EXPECT_EQ(margin_of({1, 1}, {}), 0.01) << "equal answers";
  EXPECT_EQ(margin_of({1, 2}, {.eta = 1, .u_out = 0x1p-24}), std::nullopt);
  EXPECT_EQ(margin_of({3, 4}, {.exact = true}), std::nullopt);
  EXPECT_EQ(margin_of({0, 0.9}, {.atol = 0.5}), 1);
  // Magnitudes carry the bound where answers are small by cancellation.
  ConstantRange range;
  range.add({.eta = 1, .u_acc = 0x1p-10}, DType::float32, std::vector<double>{-1, 1},
            std::vector<double>{1024, 1024});
  EXPECT_EQ(range.margin(), 1);
  EXPECT_EQ(range.constant(), 0);
}

TEST(ConstantRange, WhatIsNotFiniteIsRightAsItself) {
  const Bound bound{.rtol = 0.1};
  EXPECT_EQ(margin_of({nan, nan}, bound), 0.01);
  EXPECT_EQ(margin_of({infinity, infinity}, bound), 0.01);
  EXPECT_EQ(margin_of({infinity, -infinity}, bound), std::nullopt);
  EXPECT_EQ(margin_of({infinity, 1}, bound), std::nullopt);
  EXPECT_EQ(margin_of({nan, 1}, bound), std::nullopt);
}

} // namespace
} // namespace kw
