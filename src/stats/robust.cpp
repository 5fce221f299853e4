// SPDX-License-Identifier: Apache-2.0
#include "stats/robust.hpp"

#include "stats/split_mix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kw {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> sorted(std::span<const double> x) {
  std::vector<double> s(x.begin(), x.end());
  std::sort(s.begin(), s.end());
  return s;
}
double median_in_place(std::vector<double>& x) {
  if (x.empty())
    return nan;
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  if (x.size() % 2 == 1)
    return *middle;
  const double below = *std::max_element(x.begin(), middle);
  return below + (*middle - below) / 2;
}
double quantile_of_sorted(const std::vector<double>& s, double q) {
  if (s.empty())
    return nan;
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(s.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, s.size() - 1);
  return s[below] + (place - static_cast<double>(below)) * (s[above] - s[below]);
}

std::vector<double> ranks(std::span<const double> x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  std::vector<double> rank(x.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t j = i;
    while (j < order.size() && x[order[j]] == x[order[i]])
      ++j;
    j = std::max(j, i + 1);
    for (std::size_t k = i; k < j; ++k)
      rank[order[k]] = static_cast<double>(i + j - 1) / 2;
    i = j;
  }
  return rank;
}

} // namespace

double median(std::span<const double> x) {
  std::vector<double> copy(x.begin(), x.end());
  return median_in_place(copy);
}

double quantile(std::span<const double> x, double q) {
  return quantile_of_sorted(sorted(x), q);
}

double mad_sigma(std::span<const double> x) {
  const double centre = median(x);
  std::vector<double> deviation(x.size());
  std::transform(x.begin(), x.end(), deviation.begin(),
                 [&](double v) { return std::abs(v - centre); });
  return 1.4826 * median_in_place(deviation);
}

MedianInterval median_interval(std::span<const double> x, double confidence) {
  const std::uint64_t n = x.size();
  if (n == 0)
    return {nan, nan, nan, 0, 0, 0};
  // x_(k) and x_(n+1-k) enclose the median with probability 1 - 2 P(Bin(n, 1/2) <= k - 1): take the
  // largest k that keeps the wish, at least 1.
  std::uint64_t k = 1;
  double log_term = -static_cast<double>(n) * std::log(2.0); // ln P(Bin = k - 1)
  double tail = std::exp(log_term);                          // P(Bin <= k - 1)
  for (; k < (n + 1) / 2; ++k) {
    log_term += std::log(static_cast<double>(n - k + 1) / static_cast<double>(k));
    const double next = tail + std::exp(log_term);
    if (2 * next > 1 - confidence)
      break;
    tail = next;
  }
  const std::vector<double> s = sorted(x);
  return {quantile_of_sorted(s, 0.5), s[k - 1], s[n - k], k, n + 1 - k, 1 - 2 * tail};
}

double geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) {
    if (!(v > 0))
      return nan;
    sum += std::log(v);
  }
  return values.empty() ? nan : std::exp(sum / static_cast<double>(values.size()));
}

GeometricMean geometric_mean(std::span<const std::vector<double>> log_ratios,
                             std::span<const double> weights, std::uint64_t seed, double confidence,
                             int resamples) {
  KW_ASSERT(weights.empty() || weights.size() == log_ratios.size());
  const auto weighted = [&](auto median_of) {
    double sum = 0, total = 0;
    for (std::size_t w = 0; w < log_ratios.size(); ++w) {
      const double weight = weights.empty() ? 1 : weights[w];
      if (log_ratios[w].empty() || !(weight > 0))
        continue;
      sum += weight * median_of(log_ratios[w]);
      total += weight;
    }
    return total > 0 ? sum / total : 0;
  };
  const double centre = weighted([](const std::vector<double>& d) { return median(d); });
  SplitMix random{seed};
  std::vector<double> means(static_cast<std::size_t>(std::max(resamples, 1))), draw;
  for (double& mean : means)
    mean = weighted([&](const std::vector<double>& d) {
      draw.resize(d.size());
      for (double& v : draw)
        v = d[random.below(d.size())];
      return median_in_place(draw);
    });
  std::sort(means.begin(), means.end());
  const double tail = (1 - confidence) / 2;
  return {std::exp(centre), std::exp(quantile_of_sorted(means, tail)),
          std::exp(quantile_of_sorted(means, 1 - tail))};
}

double spearman(std::span<const double> x, std::span<const double> y) {
  KW_ASSERT(x.size() == y.size());
  const std::vector<double> a = ranks(x), b = ranks(y);
  const double centre = static_cast<double>(x.size()) / 2 - 0.5;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - centre) * (b[i] - centre);
    aa += (a[i] - centre) * (a[i] - centre);
    bb += (b[i] - centre) * (b[i] - centre);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

double spearman_p_value(double rho, std::uint64_t n) {
  if (n < 3)
    return 1;
  const double freedom = static_cast<double>(n) - 2;
  // P(|T| > t) = I_{f/(f+t^2)}(f/2, 1/2), and f/(f+t^2) = 1 - rho^2.
  return incomplete_beta(freedom / 2, 0.5, 1 - rho * rho);
}

} // namespace kw
