// SPDX-License-Identifier: Apache-2.0
#include "stats/trials.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>

namespace kw {

Result<GateSize> gate_size(std::string_view gate) {
  if (gate == "glance")
    return GateSize{.trials = 2, .evidence = false};
  if (gate == "smoke")
    return GateSize{.trials = 5, .evidence = false};
  if (gate == "gate")
    return GateSize{.trials = 59};
  if (gate == "accept")
    return GateSize{.trials = 299, .mined_strained = 64, .mined_ranked = 64, .hidden_shapes = 8};
  if (gate == "champion")
    return GateSize{.trials = 459, .mined = 64, .hidden_shapes = 8};
  std::uint64_t each = 0;
  const auto [end, error] = std::from_chars(gate.data(), gate.data() + gate.size(), each);
  if (error == std::errc{} && each > 0 &&
      std::string_view(end, gate.data() + gate.size()) == " each")
    return GateSize{.trials = each, .each = true};
  return fail(ErrorKind::invalid_input, "there is no gate named '" + std::string(gate) + "'",
              "use smoke, gate, accept or champion");
}

double failure_rate_bound(std::uint64_t clean, double confidence) {
  if (clean == 0)
    return 1;
  return -std::expm1(std::log1p(-confidence) / static_cast<double>(clean));
}

std::uint64_t trials_needed(double rate, double confidence) {
  KW_ASSERT(rate > 0 && rate < 1 && confidence > 0 && confidence < 1);
  return static_cast<std::uint64_t>(std::ceil(std::log1p(-confidence) / std::log1p(-rate)));
}

double miss_probability(double rate, std::uint64_t trials) {
  return std::pow(1 - rate, static_cast<double>(trials));
}

std::vector<std::uint64_t> allocate_trials(std::uint64_t total, std::span<const double> weights) {
  const std::size_t n = weights.size();
  std::vector<std::uint64_t> share(n, 1);
  if (n == 0 || total <= n)
    return share;
  std::vector<double> weight(n);
  std::transform(weights.begin(), weights.end(), weight.begin(),
                 [](double w) { return w > 0 && std::isfinite(w) ? w : 0; });
  const double greatest = *std::max_element(weight.begin(), weight.end());
  for (double& w : weight)
    w = greatest > 0 ? w / greatest : 1; // the sum cannot overflow
  const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
  // One each, then the rest in proportion to what each still lacks of its share.
  std::vector<double> lack(n);
  for (std::size_t i = 0; i < n; ++i)
    lack[i] = std::max(0.0, static_cast<double>(total) * weight[i] / sum - 1);
  const double lacking = std::accumulate(lack.begin(), lack.end(), 0.0);
  const std::uint64_t rest = total - n;
  std::uint64_t given = 0;
  std::vector<double> remainder(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double quota = static_cast<double>(rest) * lack[i] / lacking;
    const auto whole = std::min(static_cast<std::uint64_t>(quota), rest - given);
    share[i] += whole;
    given += whole;
    remainder[i] = quota - static_cast<double>(whole);
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return remainder[x] != remainder[y] ? remainder[x] > remainder[y] : x < y;
  });
  for (std::size_t i = 0; given < rest; i = (i + 1) % n, ++given)
    ++share[order[i]];
  return share;
}

} // namespace kw
