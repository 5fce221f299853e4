// SPDX-License-Identifier: Apache-2.0
// Intervals of a binomial rate.
#include "stats/trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kw {
namespace {

/// std::lgamma writes a global sign, which threads would race on.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// Continued fraction of the incomplete beta function, evaluated by Lentz's method; converges fast
/// for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double f = d;
  for (int m = 1; m <= 10'000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    f *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    const double step = d * c;
    f *= step;
    if (std::abs(step - 1) < 1e-15)
      break;
  }
  return f;
}

/// x with I_x(a, b) = p, by bisection down to neighbouring doubles.
double beta_quantile(double a, double b, double p) {
  double low = 0, high = 1;
  for (int i = 0; i < 2000; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high)
      break;
    (incomplete_beta(a, b, middle) < p ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

} // namespace

double incomplete_beta(double a, double b, double x) {
  if (!(x > 0))
    return 0;
  if (x >= 1)
    return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2))
    return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double normal_quantile(double p) {
  if (!(p > 0))
    return -std::numeric_limits<double>::infinity();
  if (p >= 1)
    return std::numeric_limits<double>::infinity();
  if (p > 0.5)
    return -normal_quantile(1 - p);
  // Bisection on erfc, then two Newton steps; p <= 1/2, so there is no cancellation.
  double low = -40, high = 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < p ? low : high) = middle;
  }
  double z = (low + high) / 2;
  for (int i = 0; i < 2; ++i) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    if (density > 0)
      z -= (0.5 * std::erfc(-z / std::numbers::sqrt2) - p) / density;
  }
  return z;
}

Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double confidence) {
  KW_ASSERT(successes <= trials);
  if (trials == 0)
    return {0, 1};
  const double tail = (1 - confidence) / 2;
  const double k = static_cast<double>(successes), n = static_cast<double>(trials);
  return {successes == 0 ? 0 : beta_quantile(k, n - k + 1, tail),
          successes == trials ? 1 : beta_quantile(k + 1, n - k, 1 - tail)};
}

Interval wilson(std::uint64_t successes, std::uint64_t trials, double confidence) {
  KW_ASSERT(successes <= trials);
  if (trials == 0)
    return {0, 1};
  const double z = normal_quantile(1 - (1 - confidence) / 2);
  const double n = static_cast<double>(trials), p = static_cast<double>(successes) / n;
  const double centre = p + z * z / (2 * n), scale = 1 + z * z / n;
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {successes == 0 ? 0 : (centre - half) / scale,
          successes == trials ? 1 : (centre + half) / scale};
}

} // namespace kw
