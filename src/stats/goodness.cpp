// SPDX-License-Identifier: Apache-2.0
#include "stats/goodness.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kw {
namespace {

constexpr double least_expected = 5;
constexpr int most_steps = 10'000;
constexpr double precision = 1e-14;

/// P(a, x) by its power series (DLMF 8.7.1), for x < a + 1.
double lower_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < most_steps && term > precision * sum; ++n)
    sum += term *= x / (a + n);
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

/// Q(a, x) by its continued fraction (DLMF 8.9.2) in Lentz's form, for x >= a + 1.
double upper_fraction(double a, double x) {
  constexpr double tiny = std::numeric_limits<double>::min() / precision;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, product = d;
  for (int n = 1; n < most_steps; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = 1 / std::max(numerator * d + b, tiny);
    c = std::max(b + numerator / c, tiny);
    product *= d * c;
    if (std::fabs(d * c - 1) < precision)
      break;
  }
  return product * std::exp(a * std::log(x) - x - std::lgamma(a));
}

} // namespace

double chi_square_tail(double x, double dof) {
  const double a = dof / 2;
  x /= 2;
  if (x <= 0)
    return 1;
  return x < a + 1 ? 1 - lower_series(a, x) : upper_fraction(a, x);
}

double at_least_bound(double count, double mean) {
  if (count <= mean)
    return 1;
  return mean <= 0 ? 0 : std::exp(count - mean + count * std::log(mean / count));
}

GTest g_test(std::span<const std::uint64_t> counts, std::span<const double> shares) {
  KW_ASSERT(counts.size() == shares.size());
  const auto total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  GTest out;
  double inverse = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * shares[i];
    if (expected < least_expected)
      return {};
    const auto seen = static_cast<double>(counts[i]);
    out.g += seen > 0 ? 2 * seen * std::log(seen / expected) : 0;
    inverse += 1 / shares[i];
  }
  if (counts.size() < 2)
    return {};
  out.dof = static_cast<double>(counts.size() - 1);
  out.g = std::max(out.g, 0.0) / (1 + (inverse - 1) / (6 * total * out.dof));
  out.p = chi_square_tail(out.g, out.dof);
  return out;
}

} // namespace kw
