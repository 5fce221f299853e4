// SPDX-License-Identifier: Apache-2.0
// Decisions of a race that are taken before anyone looks at a measured time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kw {

struct WindowLimits {
  double least_ns = 3e6; ///< a window shorter than this is mostly noise
  int windows = 3;       ///< per arm and round
  int most_calls = 160;  ///< per window
};

struct WindowPlan {
  int calls = 1;   ///< per window
  int windows = 1; ///< per arm and round
};

/// Sizes the windows of one workload from its first calls. The baseline sets the number of calls; a
/// faster candidate may raise it up to four times, never lower it. `candidate_ns` 0 = there is
/// none. Calls far longer than a window, and races over more than four workloads, get one window.
[[nodiscard]] WindowPlan plan_windows(double baseline_ns, double candidate_ns,
                                      std::size_t workloads, const WindowLimits& limits);

/// A call this long in units of the least window is not repeated for more windows.
inline constexpr double long_call_windows = 8;

/// Whether the judge and the arms waited so long for a CPU (`delay` seconds, counted while clocks
/// ran) that a round whose calls took `seconds` is discarded. `sleeping_calls`: calls over a
/// doorbell that is slept on, where waking up is such a wait.
[[nodiscard]] bool is_disturbed(double delay, std::uint64_t sleeping_calls, double seconds);

} // namespace kw
