// SPDX-License-Identifier: Apache-2.0
#include "report/fib_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

Verdict verdict(Outcome strict, const std::string& status, std::uint64_t trials = 3) {
  Verdict v;
  v.correctness.outcome = strict;
  v.finding = strict == Outcome::fail ? Finding::wrong : Finding::none;
  v.fib =
      FibCompat{.status = status, .reason = "", .evaluator = "default", .atol = 0.01, .rtol = 0.01};
  v.fib->workloads = {{.uuid = "u", .trials = trials, .matched = status == "PASSED" ? trials : 0}};
  return v;
}

TEST(FibText, AgreementIsNoDifference) {
  EXPECT_FALSE(fib_differs({}));
  EXPECT_EQ(fib_sentence({}), "");
  EXPECT_FALSE(fib_differs(verdict(Outcome::pass, "PASSED")));
  EXPECT_FALSE(fib_differs(verdict(Outcome::fail, "INCORRECT_NUMERICAL")));
  EXPECT_FALSE(fib_differs(verdict(Outcome::unknown, "PASSED")));
  EXPECT_FALSE(fib_differs(verdict(Outcome::fail, ""))) << "not known";
  EXPECT_EQ(
      fib_sentence(verdict(Outcome::pass, "PASSED")),
      "accepted upstream: 3 of 3 trials matched (absolute error <= 0.01 or relative <= 0.01)");
}

TEST(FibText, TheReasonNamesWhatUpstreamDoesNotSee) {
  Verdict v = verdict(Outcome::fail, "PASSED");
  v.mismatch = Mismatch{.input_class = "normal", .got = 0, .want = 8e-4};
  ASSERT_TRUE(fib_differs(v));
  EXPECT_EQ(fib_sentence(v),
            "would have been accepted upstream: 3 of 3 trials matched (absolute error <= 0.01 or "
            "relative <= 0.01); differs because the error of 0.0008 is below its atol");
  v.mismatch = Mismatch{.input_class = "offset", .got = 1000, .want = 1003};
  EXPECT_THAT(fib_sentence(v),
              HasSubstr("differs because it draws no inputs of class `offset`, and "
                        "the relative error of 0.003 is below its rtol"));
  v.mismatch->got = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(fib_sentence(v), testing::EndsWith("it draws no inputs of class `offset`"));
  v.mismatch->input_class = "normal";
  EXPECT_THAT(fib_sentence(v), HasSubstr("so few trials"));
  v.mismatch->workload = "hidden:rows=3,n=7";
  EXPECT_THAT(fib_sentence(v), testing::EndsWith("differs because it tries listed shapes only"));
  v.finding = Finding::state;
  EXPECT_THAT(fib_sentence(v), HasSubstr("it looks at outputs only"));
  v.finding = Finding::nondeterminism;
  EXPECT_THAT(fib_sentence(v), HasSubstr("it calls a kernel once per input"));
}

TEST(FibText, FewerTrialsThanUpstreamsSettleNothingButAFailure) {
  Verdict v = verdict(Outcome::fail, "PASSED", 1);
  v.finding = Finding::crash;
  EXPECT_THAT(fib_sentence(v), testing::StartsWith("so far: 1 of 1 trial matched"));
  EXPECT_THAT(fib_sentence(v), Not(HasSubstr("accepted")));
  EXPECT_THAT(fib_sentence(verdict(Outcome::pass, "INCORRECT_NUMERICAL", 1)),
              testing::StartsWith("would have been refused upstream: 0 of 1 trial matched"));
}

TEST(FibText, StricterThanWeAre) {
  Verdict v = verdict(Outcome::pass, "INCORRECT_NUMERICAL");
  EXPECT_THAT(fib_sentence(v), HasSubstr("tighter here than honest rounding"));
  v.fib->non_finite = true;
  EXPECT_THAT(fib_sentence(v), HasSubstr("refuses infinities and NaN"));
  v.fib->required_ratio = 0.95;
  EXPECT_THAT(fib_sentence(v), HasSubstr("in 95 % of elements)"));
}

} // namespace
} // namespace kw
