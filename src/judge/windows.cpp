// SPDX-License-Identifier: Apache-2.0
#include "judge/windows.hpp"

#include <algorithm>
#include <cmath>

namespace kw {

WindowPlan plan_windows(double baseline_ns, double candidate_ns, std::size_t workloads,
                        const WindowLimits& limits) {
  constexpr double shortest_ns = 100; // bounds the quotient where a clock did not move
  const auto calls_for = [&](double ns) {
    return std::ceil(limits.least_ns / std::max(ns, shortest_ns));
  };
  double calls = calls_for(baseline_ns);
  if (candidate_ns > 0)
    calls = std::max(calls, std::min(calls_for(candidate_ns), 4 * calls));
  const bool once = baseline_ns > limits.least_ns * long_call_windows || workloads > 4;
  return {.calls = static_cast<int>(std::clamp(calls, 1.0, static_cast<double>(limits.most_calls))),
          .windows = once ? 1 : limits.windows};
}

bool is_disturbed(double delay, std::uint64_t sleeping_calls, double seconds) {
  constexpr double share = 0.05, per_call = 50e-6;
  return delay > share * seconds + per_call * static_cast<double>(sleeping_calls);
}

} // namespace kw
