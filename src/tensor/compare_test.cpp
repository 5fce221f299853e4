// SPDX-License-Identifier: Apache-2.0
#include "tensor/compare.hpp"

#include "tensor/convert.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace kw {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::byte> stored(DType t, const std::vector<double>& x) {
  std::vector<std::byte> out(byte_size(t, static_cast<std::int64_t>(x.size())));
  from_double(t, x, out);
  return out;
}
CompareResult check(DType t, const std::vector<double>& got, const std::vector<double>& want,
                    Bound bound, std::int64_t row = 10, const std::vector<double>& magnitude = {}) {
  return compare(t, stored(t, got), want, magnitude, bound, row);
}
Bound relative(double rtol, double atol = 0) {
  Bound b;
  b.rtol = rtol, b.atol = atol;
  return b;
}
Bound eta(double limit, double u_out, double u_acc = 0x1p-24) {
  Bound b;
  b.eta = limit, b.u_out = u_out, b.u_acc = u_acc;
  return b;
}
std::vector<double> random_values(std::size_t n, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  for (double& v : x)
    v = normal(random);
  return x;
}

TEST(Compare, RoundedOracleIsAlwaysRight) {
  const std::vector<double> want = random_values(5000);
  for (const DType t : {DType::float64, DType::float32, DType::float16, DType::bfloat16,
                        DType::float8_e4m3fn, DType::float8_e5m2, DType::float4_e2m1}) {
    const CompareResult r = check(t, want, want, eta(1, unit_roundoff(t), 0), 50);
    EXPECT_EQ(r.bad, 0U) << name(t);
    EXPECT_EQ(r.pattern, "");
    EXPECT_EQ(r.elements, 5000U);
    EXPECT_LE(r.max_eta, 1) << name(t) << ": rounding errs by at most one unit roundoff";
    EXPECT_GT(r.max_eta, t == DType::float64 ? -1 : 0.75);
  }
}

TEST(Compare, TheBoundIsSharp) {
  Bound b = relative(0.01, 0.5);
  for (const std::size_t n : {1UL, 7UL, 512UL, 513UL, 1500UL}) {
    std::vector<double> want(n, 100), got(n, 101.5);
    EXPECT_EQ(check(DType::float64, got, want, b).bad, 0U) << "exactly at the bound";
    got[n - 1] = std::nextafter(101.5, 200);
    const CompareResult r = check(DType::float64, got, want, b);
    EXPECT_EQ(r.bad, 1U) << n;
    EXPECT_EQ(r.first_bad, n - 1);
    EXPECT_EQ(r.got, got[n - 1]);
    EXPECT_EQ(r.want, 100);
    EXPECT_EQ(r.bound, 1.5);
    EXPECT_NEAR(r.max_abs, 1.5, 1e-12);
    EXPECT_NEAR(r.max_rel, 0.015, 1e-12);
  }
}

TEST(Compare, MagnitudeWidensTheBoundByItsElement) {
  const std::vector<double> want(100, 1), magnitude(100, 1000);
  std::vector<double> got(100, 1);
  got[42] = 1 + 4000 * 0x1p-24;
  EXPECT_EQ(check(DType::float32, got, want, eta(8, 0x1p-24), 10, magnitude).bad, 0U);
  EXPECT_EQ(check(DType::float32, got, want, eta(2, 0x1p-24), 10, magnitude).bad, 1U);
  EXPECT_EQ(check(DType::float32, got, want, eta(8, 0x1p-24)).bad, 1U);
  EXPECT_NEAR(check(DType::float32, got, want, eta(8, 0x1p-24), 10, magnitude).max_eta, 4, 0.01);
  std::vector<double> broken(100, inf);
  EXPECT_EQ(check(DType::float32, got, want, eta(8, 0x1p-24), 10, broken).bad, 1U)
      << "an infinite magnitude must not pass everything";
  broken.assign(100, nan);
  EXPECT_EQ(check(DType::float32, got, want, eta(8, 0x1p-24), 10, broken).bad, 1U);
  EXPECT_EQ(check(DType::float32, want, want, eta(8, 0x1p-24), 10, broken).bad, 0U);
}

TEST(Compare, TinyOutputsCannotBeReplacedByZeros) { // RH-49
  for (const double scale : {0x1p-20, 1.0, 0x1p20}) {
    std::vector<double> want = random_values(4096);
    for (double& x : want)
      x *= scale;
    const Bound b = relative(1.6e-2, 8e-3 * rms(want));
    const std::vector<double> zeros(4096, 0);
    const CompareResult r = check(DType::bfloat16, zeros, want, b, 64);
    EXPECT_GT(r.bad, 4000U) << scale;
    EXPECT_EQ(r.pattern, "all");
    EXPECT_EQ(check(DType::bfloat16, want, want, b, 64).bad, 0U);
  }
}

TEST(Compare, NanAndInfinityHoles) { // RH-50
  const std::vector<double> want = random_values(600);
  for (const double poison : {nan, inf, -inf}) {
    for (const Bound& b : {relative(1e-2, 1e-2), eta(8, 0x1p-24)}) {
      std::vector<double> got = want;
      got[599] = poison;
      const CompareResult r = check(DType::float32, got, want, b);
      EXPECT_EQ(r.bad, 1U);
      EXPECT_EQ(r.class_mismatches, 1U);
      EXPECT_EQ(r.pattern, "non-finite");
      EXPECT_EQ(r.max_abs, inf);
      EXPECT_EQ(check(DType::float32, std::vector<double>(600, poison), want, b).bad, 600U);
    }
  }
}

TEST(Compare, ClassesMustAgree) {
  const std::vector<double> classes{nan, inf, -inf, 1, 0};
  for (const double want : classes)
    for (const double got : classes) {
      const bool same = std::isnan(want) ? std::isnan(got) : got == want;
      const CompareResult r = check(DType::float32, {got}, {want}, relative(1e-3, 1e-3));
      EXPECT_EQ(r.bad, same ? 0U : 1U) << got << " for " << want;
      EXPECT_EQ(r.class_mismatches, std::isfinite(got) && std::isfinite(want) ? 0U : !same);
    }
}

TEST(Compare, BoundThatIsNotFiniteFailsEverything) {
  EXPECT_EQ(check(DType::float32, {1, inf}, {1, 2}, relative(inf)).bad, 2U);
  EXPECT_EQ(check(DType::float32, {1, 2}, {1, 2}, relative(nan)).bad, 2U);
}

TEST(Compare, OverflowOfTheFormatIsHonest) {
  const Bound b = eta(2, 0x1p-11);
  EXPECT_EQ(check(DType::float16, {inf}, {70000}, b).bad, 0U);
  EXPECT_EQ(check(DType::float16, {-inf}, {70000}, b).bad, 1U);
  EXPECT_EQ(check(DType::float16, {inf}, {65510}, b).bad, 0U) << "within the bound of overflow";
  EXPECT_EQ(check(DType::float16, {inf}, {60000}, b).bad, 1U);
  EXPECT_EQ(check(DType::float16, {65504}, {70000}, b).bad, 1U) << "float16 does not saturate";
  EXPECT_EQ(check(DType::float32, {inf}, {1e39}, b).bad, 0U);
  const Bound b8 = eta(2, 0x1p-4);
  EXPECT_EQ(check(DType::float8_e4m3fn, {nan}, {1000}, b8).bad, 0U);
  EXPECT_EQ(check(DType::float8_e4m3fn, {448}, {1000}, b8).bad, 0U) << "saturating conversion";
  EXPECT_EQ(check(DType::float8_e4m3fn, {-448}, {1000}, b8).bad, 1U);
  EXPECT_EQ(check(DType::float8_e4m3fn, {nan}, {100}, b8).bad, 1U);
  EXPECT_EQ(check(DType::float8_e4m3fn, {nan}, {inf}, b8).bad, 0U);
  EXPECT_EQ(check(DType::float8_e5m2, {inf}, {1e6}, b8).bad, 0U);
  EXPECT_EQ(check(DType::float4_e2m1, {6}, {100}, eta(1, 0x1p-2)).bad, 1U)
      << "a bound that large needs a policy";
}

TEST(Compare, SubnormalRoundingIsAbsolute) {
  const double tiny = 0x1.8p-24; // between the two smallest float16 numbers
  EXPECT_EQ(check(DType::float16, {tiny}, {tiny}, eta(1, 0x1p-11, 0)).bad, 0U);
  EXPECT_EQ(check(DType::float16, {0x1p-20}, {tiny}, eta(1, 0x1p-11, 0)).bad, 1U);
}

TEST(Compare, ExactMeansTheRoundedValue) {
  Bound b;
  b.exact = true;
  EXPECT_EQ(check(DType::int32, {1, 2, -3}, {1, 2, -3}, b).bad, 0U);
  const CompareResult r = check(DType::int32, {1, 2, -4}, {1, 2, -3}, b);
  EXPECT_EQ(r.bad, 1U);
  EXPECT_EQ(r.got, -4);
  EXPECT_EQ(r.max_abs, 1);
  EXPECT_EQ(check(DType::bfloat16, {0.1, nan, inf}, {0.1, nan, inf}, b).bad, 0U);
  EXPECT_EQ(check(DType::bfloat16, {0.1, nan, inf}, {0.1, 1, inf}, b).class_mismatches, 1U);
  EXPECT_EQ(check(DType::bfloat16, {0.1005}, {0.1}, b).bad, 1U);
  EXPECT_EQ(check(DType::float32, {-0.0}, {0.0}, b).bad, 0U);
  EXPECT_EQ(check(DType::float4_e2m1, {1, 2, 3}, {1, 2, 4}, b).first_bad, 2U);
  const std::vector<std::byte> two{std::byte{2}};
  EXPECT_EQ(compare(DType::boolean, two, std::vector<double>{1}, {}, b, 1).bad, 1U)
      << "a bool byte is 0 or 1";
  std::vector<std::byte> big(8);
  const std::int64_t value = (std::int64_t{1} << 53) + 1; // not a double
  std::memcpy(big.data(), &value, 8);
  EXPECT_EQ(compare(DType::int64, big, std::vector<double>{0x1p53}, {}, b, 1).bad, 1U);
}

TEST(Compare, Patterns) {
  const std::int64_t row = 64;
  const std::vector<double> want = random_values(64 * 64);
  const Bound b = relative(1e-3, 1e-6);
  const auto pattern = [&](auto is_bad) {
    std::vector<double> got = want;
    for (std::size_t i = 0; i < got.size(); ++i)
      if (is_bad(i / 64, i % 64))
        got[i] = got[i] * 2 + 1;
    return check(DType::float32, got, want, b, row).pattern;
  };
  using Index = std::size_t;
  EXPECT_EQ(pattern([](Index, Index) { return true; }), "all");
  EXPECT_EQ(pattern([](Index, Index c) { return c == 63; }), "tail") << "off by one";
  EXPECT_EQ(pattern([](Index, Index c) { return c >= 56; }), "tail") << "vector remainder";
  EXPECT_EQ(pattern([](Index r, Index) { return r >= 60; }), "tail") << "last rows";
  EXPECT_EQ(pattern([](Index r, Index c) { return r == 63 && c == 63; }), "tail");
  EXPECT_EQ(pattern([](Index r, Index) { return r == 5 || r == 17; }), "rows");
  EXPECT_EQ(pattern([](Index r, Index c) { return (r * 7 + c * 13) % 31 == 0; }), "scattered");
  EXPECT_EQ(pattern([](Index, Index c) { return c < 8; }), "scattered");
}

TEST(Compare, SaysWhereErrorsLie) {
  const std::vector<double> want = random_values(64 * 64);
  std::vector<double> got = want;
  EXPECT_FALSE(check(DType::float32, got, want, relative(1e-3), 64).place);
  for (std::size_t r = 0; r < 64; ++r)
    for (std::size_t c = 61; c < 64; ++c)
      got[r * 64 + c] += 9;
  for (const bool exact : {false, true}) {
    Bound b = relative(1e-3, 1e-6);
    b.exact = exact;
    const std::vector<double> rounded = [&] {
      std::vector<double> x = want;
      for (double& v : x)
        v = round_to(DType::float32, v);
      return x;
    }();
    const CompareResult r = check(DType::float32, got, rounded, b, 64);
    ASSERT_TRUE(r.place);
    EXPECT_EQ(r.place->cluster, "last columns");
    EXPECT_EQ(r.place->first_column, 61U);
    EXPECT_EQ(r.place->bad, r.bad);
  }
}

TEST(Compare, MaximaAreThoseOfAPlainLoop) {
  const std::vector<double> want = random_values(3001), noise = random_values(3001, 2);
  std::vector<double> got = want, magnitude(3001);
  double max_abs = 0, max_rel = 0, max_eta = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    got[i] += 1e-5 * noise[i];
    magnitude[i] = 1 + std::abs(noise[(i + 1) % 3001]);
    const double error = std::abs(got[i] - want[i]);
    max_abs = std::max(max_abs, error);
    max_rel = std::max(max_rel, error / std::abs(want[i]));
    max_eta = std::max(max_eta, error / (0x1p-24 * std::abs(want[i]) + 0x1p-24 * magnitude[i]));
  }
  const CompareResult r = check(DType::float64, got, want, eta(1e9, 0x1p-24), 1, magnitude);
  EXPECT_EQ(r.bad, 0U);
  EXPECT_DOUBLE_EQ(r.max_abs, max_abs);
  EXPECT_DOUBLE_EQ(r.max_rel, max_rel);
  EXPECT_DOUBLE_EQ(r.max_eta, max_eta);
}

TEST(Compare, EmptyOutput) {
  const CompareResult r = check(DType::float32, {}, {}, relative(0));
  EXPECT_EQ(r.elements, 0U);
  EXPECT_EQ(r.bad, 0U);
}

TEST(Rms, SkipsNonFinite) {
  EXPECT_DOUBLE_EQ(rms(std::vector<double>{3, nan, -4, inf}), std::sqrt(12.5));
  EXPECT_EQ(rms(std::vector<double>{}), 0);
  EXPECT_EQ(rms(std::vector<double>{nan}), 0);
}

} // namespace
} // namespace kw
