// SPDX-License-Identifier: Apache-2.0
#include "judge/precision.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ErrorUnits errors(double rms, double max, std::uint64_t elements = 1000) {
  ErrorUnits e;
  e.elements = elements;
  e.squares = rms * rms * static_cast<double>(elements);
  e.max = max;
  return e;
}
PrecisionPool pool(const ErrorUnits& candidate, const ErrorUnits& baseline,
                   InputClass c = InputClass::normal, bool magnitudes = true) {
  return {.output = "y",
          .input_class = c,
          .magnitudes = magnitudes,
          .candidate = candidate,
          .baseline = baseline};
}
std::string word(const std::vector<PrecisionPool>& pools) {
  return weigh(pools, "plain").word;
}

TEST(Precision, EqualArithmeticIsAsTheBaseline) {
  const PrecisionEvidence e = weigh({pool(errors(0.44, 1.1), errors(0.4, 1))}, "plain");
  EXPECT_EQ(e.word, "AS_BASELINE");
  EXPECT_EQ(e.summary, "error 1.1x of plain's (`y`, inputs: normal)");
  EXPECT_NEAR(e.ratio, 1.1, 1e-12);
}

TEST(Precision, KappaAndFloors) {
  EXPECT_EQ(word({pool(errors(1.9, 5), errors(1, 2))}), "AS_BASELINE");
  EXPECT_EQ(word({pool(errors(2.1, 5), errors(1, 2))}), reduced_precision);
  EXPECT_EQ(word({pool(errors(1.9, 8.1), errors(1, 2))}), reduced_precision) << "the largest error";
  // A baseline in a lucky order of sums: 0.07 where a plain loop has 0.45.
  EXPECT_EQ(word({pool(errors(0.45, 2.1), errors(0.07, 0.5))}), "AS_BASELINE");
  EXPECT_EQ(word({pool(errors(0.48, 5.4), errors(0.13, 0.44))}), "AS_BASELINE") << "plain order";
  EXPECT_EQ(word({pool(errors(0.48, 8.1), errors(0.13, 0.44))}), reduced_precision);
  EXPECT_EQ(word({pool(errors(1.1, 2.1), errors(0.07, 0.5))}), reduced_precision);
  EXPECT_EQ(word({pool(errors(9, 20, 10), errors(1, 2, 10))}), "AS_BASELINE") << "too few";
}

TEST(Precision, WithoutMagnitudesOrdersOfSumsDifferByMore) {
  const auto plain = [](double candidate, double baseline) {
    return pool(errors(candidate, 1e6), errors(baseline, 100), InputClass::normal, false);
  };
  EXPECT_EQ(word({plain(32, 8)}), "AS_BASELINE") << "a plain loop beside sixteen sums";
  EXPECT_EQ(word({plain(70, 8)}), reduced_precision);
  EXPECT_EQ(word({plain(3.9, 0.1)}), "AS_BASELINE");
  EXPECT_EQ(word({plain(4.1, 0.1)}), reduced_precision);
}

TEST(Precision, TheWorstPairDecides) {
  const PrecisionEvidence e = weigh({pool(errors(0.4, 1), errors(0.4, 1)),
                                     pool(errors(4, 9), errors(0.5, 1), InputClass::row_scales)},
                                    "plain");
  EXPECT_EQ(e.word, reduced_precision);
  EXPECT_EQ(e.input_class, "row_scales");
  EXPECT_THAT(e.summary, HasSubstr("error 8x of plain's on the same inputs (`y`, inputs: "
                                   "row_scales): RMS 4 against 0.5 rounding units"));
}

TEST(Precision, ExactProbesCountOnlyWhereTheBaselineIsExact) {
  ErrorUnits off = errors(0.2, 3);
  off.beyond_rounding = 20; // of 1000
  off.inexact = 300;
  const PrecisionPool good = pool(errors(0.4, 1), errors(0.4, 1));
  const PrecisionPool probe = pool(off, errors(0, 0), InputClass::wide_mantissa);
  const PrecisionEvidence e = weigh({good, probe}, "plain");
  EXPECT_EQ(e.word, reduced_precision);
  EXPECT_EQ(e.exact_probes, 1U);
  EXPECT_THAT(e.summary, HasSubstr("2 % of elements are wrong beyond the last digit"));

  PrecisionPool inexact = probe;
  inexact.baseline.inexact = 100;
  EXPECT_EQ(word({good, inexact}), "AS_BASELINE") << "nothing is exact in such an operator";
  PrecisionPool rounded = probe;
  rounded.candidate.beyond_rounding = 0; // another rounding of the last digit, as 1/3 x
  EXPECT_EQ(word({good, rounded}), "AS_BASELINE");
  EXPECT_THAT(weigh({good, rounded}, "plain").summary, HasSubstr(", exact where that one is"));
}

TEST(Precision, NothingToCompareIsNotKnown) {
  const PrecisionEvidence e = weigh({}, "plain");
  EXPECT_EQ(e.word, "");
  EXPECT_THAT(e.summary, HasSubstr("not compared"));
}

TEST(Precision, ABaselineWithoutErrorsGivesNoInfiniteFigures) {
  const PrecisionEvidence e = weigh({pool(errors(3, 3), errors(0, 0))}, "plain");
  EXPECT_EQ(e.word, reduced_precision);
  EXPECT_THAT(e.summary, HasSubstr("error many times of plain's"));
}

BoundWorkload workload(double flops, std::vector<InputClass> classes = {InputClass::normal}) {
  BoundWorkload w;
  w.flops = flops;
  w.inputs.push_back({.name = "x", .draw = {}, .bytes = 4, .fixed = {}, .classes = classes});
  return w;
}

TEST(Precision, CallsFewAndCheapWorkloads) {
  std::vector<BoundWorkload> all;
  for (const double flops : {9e5, 1e5, 8e5, 1e12, 7e5, 2e5, 5e9, 3e5})
    all.push_back(workload(flops));
  EXPECT_THAT(precision_workloads(all), ElementsAre(1, 5, 4, 0)) << "spread over the affordable";
  EXPECT_THAT(precision_workloads({workload(5e9)}), ElementsAre(0)) << "one at least";
  EXPECT_THAT(precision_workloads({workload(1e12)}), ElementsAre()) << "but none that is sampled";
}

TEST(Precision, InputsHaveBothSigns) {
  using enum InputClass;
  EXPECT_THAT(precision_classes(workload(1, {uniform, normal, offset, wide_mantissa, row_scales})),
              ElementsAre(normal, row_scales, wide_mantissa));
  EXPECT_THAT(precision_classes(workload(1, {uniform, offset})), ElementsAre());
}

} // namespace
} // namespace kw
