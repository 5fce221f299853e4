// SPDX-License-Identifier: Apache-2.0
// The same solution at other sizes and with other numbers of threads: where a cache ends, and what
// a thread more brings. Verified calls under the judge's clock, no claim of speed.
#pragma once

#include "base/result.hpp"
#include "model/profile.hpp"
#include "service/judging.hpp"
#include "target/cpu/ceilings.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kw {

/// What all of them have in common.
struct SweepSetting {
  const Workspace& workspace;
  const Task& task; ///< its first workload is the one that is varied
  const Solution& solution;
  const JudgingOptions& judging;
  std::shared_ptr<Builder> builder;
  int calls = 5;                               ///< of each point, the median counts
  std::chrono::steady_clock::time_point until; ///< points not begun by then are left out
};

/// Fills `profile.sweep` with sizes of the variable axis `axis` whose footprints lie within each
/// cache level and beyond it, up to `largest_sweep` bytes, and one whose caches were emptied before
/// each call ("DRAM"). Points left out are named in `profile.missing`. Errors: no such axis, a
/// workload that brings its inputs, infrastructure.
Status sweep_sizes(const SweepSetting& setting, const std::string& axis, const Ceilings& ceilings,
                   Profile& profile);

inline constexpr double largest_sweep = 64 << 20; ///< bytes: inputs are drawn anew for each call

/// Fills `profile.scaling` with 1, 2, 4, ... up to `most` threads. Errors: infrastructure.
Status scale_threads(const SweepSetting& setting, int most, Profile& profile);

/// Footprints in bytes that a sweep aims at, ascending: half of each cache, and beyond it. Sizes of
/// caches in bytes, 0 = there is none.
[[nodiscard]] std::vector<double> sweep_footprints(std::size_t l1, std::size_t l2,
                                                   std::size_t last);
/// 1, 2, 4, ... and `most`.
[[nodiscard]] std::vector<int> thread_counts(int most);

} // namespace kw
