// SPDX-License-Identifier: Apache-2.0
#include "judge/fib_compat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace kw {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

FibOutput compared(const std::vector<float>& got, const std::vector<double>& want,
                   const FibRule& rule = {}) {
  return fib_compare(DType::float32, std::as_bytes(std::span(got)), want, rule);
}

TEST(FibRule, AnElementFailsOnlyIfBothErrorsExceed) {
  EXPECT_TRUE(compared({0.0F}, {0.0099}).passed) << "relative error 1, absolute below 1e-2";
  EXPECT_TRUE(compared({1005.0F}, {1000}).passed) << "absolute error 5, relative below 1e-2";
  EXPECT_FALSE(compared({0.0F}, {0.0101}).passed);
  EXPECT_FALSE(compared({1.02F}, {1}).passed);
  EXPECT_TRUE(compared({-0.004F}, {0.004}).passed) << "even the sign is free below atol";
  EXPECT_TRUE(compared({}, {}).passed);
}

TEST(FibRule, ZerosPassWhereverAnswersAreSmall) {
  const std::vector<float> zeros(4096, 0.0F);
  const std::vector<double> softmax(4096, 1.0 / 4096);
  const FibOutput out = compared(zeros, softmax);
  EXPECT_TRUE(out.passed);
  EXPECT_EQ(out.ratio, 1);
  EXPECT_NEAR(out.max_rel, 1, 1e-3);
}

TEST(FibRule, ARatioForgivesAShareOfElements) {
  std::vector<float> got(1000, 1.0F);
  std::vector<double> want(1000, 1.0);
  for (std::size_t i = 0; i < 50; ++i)
    got[i * 20] = 7;
  const FibOutput strict = compared(got, want);
  EXPECT_DOUBLE_EQ(strict.ratio, 0.95);
  EXPECT_FALSE(strict.passed);
  EXPECT_TRUE(compared(got, want, {.required_ratio = 0.95}).passed);
  got[1] = 7;
  EXPECT_FALSE(compared(got, want, {.required_ratio = 0.95}).passed);
}

TEST(FibRule, WhatIsNotFinite) {
  EXPECT_FALSE(compared({std::numeric_limits<float>::infinity()}, {infinity}).passed)
      << "an infinite output is refused even where it is right";
  EXPECT_FALSE(compared({std::numeric_limits<float>::quiet_NaN()}, {1}).passed);
  EXPECT_TRUE(compared({3.0F}, {nan}).passed) << "comparisons with NaN are false";
  EXPECT_TRUE(compared({std::numeric_limits<float>::quiet_NaN()}, {1}, {.finite = false}).passed);
}

TEST(FibRule, TheReferenceIsStoredInTheOutputsType) {
  // 1.0039 is 1 in bfloat16: no error at all.
  const std::vector<std::uint16_t> one{0x3f80};
  const FibOutput out =
      fib_compare(DType::bfloat16, std::as_bytes(std::span(one)), std::vector<double>{1.0019}, {});
  EXPECT_EQ(out.max_abs, 0);
  const std::vector<std::int32_t> off_by_nine{1009};
  EXPECT_TRUE(fib_compare(DType::int32, std::as_bytes(std::span(off_by_nine)),
                          std::vector<double>{1000}, {})
                  .passed)
      << "integers are compared as floats";
}

TEST(FibRule, SpecialEvaluators) {
  const auto rule = [](const char* name, const char* op_type) {
    Definition d;
    d.name = name, d.op_type = op_type;
    return fib_rule(d);
  };
  EXPECT_EQ(rule("softmax_f32", "softmax").required_ratio, 1);
  EXPECT_EQ(rule("moe_fp8_block_scale_ds", "moe").evaluator, "lowbit");
  EXPECT_EQ(rule("moe_fp8_block_scale_ds", "moe").required_ratio, 0.95);
  EXPECT_EQ(rule("moe_bf16", "moe").required_ratio, 0.95);
  EXPECT_FALSE(rule("dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64", "dsa").finite);
  EXPECT_THAT(rule("top_p_sampling", "sampling").unknown, testing::HasSubstr("distribution"));
  EXPECT_THAT(rule("dsa_topk_indexer_fp8", "dsa").unknown, testing::HasSubstr("top-k"));
}

TEST(FibCompat, OneTrialThatFailsDecides) {
  FibCompat fib = open_fib({});
  EXPECT_EQ(fib.status, "");
  EXPECT_FALSE(fib.reason.empty());
  const FibOutput good, bad{.ratio = 0.5, .max_abs = 3, .max_rel = 0.25, .passed = false};
  count_fib(fib, "a", std::vector{good, good});
  EXPECT_EQ(fib.status, "PASSED");
  EXPECT_EQ(fib.reason, "");
  count_fib(fib, "b", std::vector{good, bad});
  count_fib(fib, "a", std::vector{good});
  EXPECT_EQ(fib.status, "INCORRECT_NUMERICAL");
  ASSERT_EQ(fib.workloads.size(), 2U);
  EXPECT_EQ(fib.workloads[0].trials, 2U);
  EXPECT_EQ(fib.workloads[0].matched, 2U);
  EXPECT_EQ(fib.workloads[1].matched, 0U);
  EXPECT_EQ(fib.workloads[1].least_ratio, 0.5);
  EXPECT_EQ(fib.workloads[1].max_abs, 3);
}

} // namespace
} // namespace kw
