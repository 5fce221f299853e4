// SPDX-License-Identifier: Apache-2.0
// What a profile says about the bound of a kernel. Rules with explicit thresholds, asked in a fixed
// order; each adds its evidence, and a rule whose figures are missing does not fire.
#pragma once

#include "model/profile.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kw {

/// Thresholds, docs/profile.md says where each comes from.
namespace bottleneck {
inline constexpr double at_ceiling = 0.6;     ///< of the FLOP or bandwidth ceiling: bound by it
inline constexpr double short_call_ns = 5000; ///< what the judge itself calls too short
inline constexpr double reorder_helps = 0.75; ///< time with -ffast-math over time now
inline constexpr double scalar_share = 0.5;   ///< of a loop's floating-point instructions
/// Latency of a multiply-add (4 cycles) times two ports: so many sums must run side by side.
inline constexpr int enough_sums = 8;
inline constexpr double few_sums = 0.5;     ///< share of these below which chains are the bound
inline constexpr double many_divides = 0.1; ///< of a loop's floating-point instructions
/// Two loads or one store a cycle beside two operations: moves over work from which they bind.
inline constexpr double moves_over_work = 1.5;
/// Of the bandwidth ceiling: a loop that only moves data is bound by the level from here on, and
/// below it bandwidth is no explanation for any other.
inline constexpr double under_ceiling = 0.3;
/// Cycles of a turn over those of its busiest unit, by the model: results are waited for.
inline constexpr double chain_over_units = 1.5;

// Of several threads.
inline constexpr double hot_share = 0.5;     ///< of the samples: a loop that speaks for all
inline constexpr double task_overhead = 0.3; ///< of helpers' samples where tasks are handed out
inline constexpr double even_threads = 0.8;  ///< mean over busiest thread: below it some wait
inline constexpr double idle_thread = 0.05;  ///< least over busiest: it does not take part
inline constexpr double scales = 0.7;        ///< speed-up per thread

inline constexpr double cache_cliff = 1.5; ///< time per byte beyond a level over that within

// Of a GPU's profile; the ceilings of multiprocessors, memory and DRAM are `at_ceiling` too.
inline constexpr double gpu_idle = 0.3;      ///< of the timeline without work: launches bind
inline constexpr double gpu_balance = 0.15;  ///< shares nearer to each other than this: both bind
inline constexpr double full_wave = 1;       ///< waves a multiprocessor below which some idle
inline constexpr double tail_loss = 0.2;     ///< share of the last round's slots that stand empty
inline constexpr double low_occupancy = 0.5; ///< theoretical, of the resident warps
inline constexpr double uneven_occupancy = 0.7; ///< achieved over theoretical
inline constexpr double dominating_stall = 0.3; ///< of all stalls
} // namespace bottleneck

[[nodiscard]] BottleneckState classify(const Profile& profile);

/// What holds one loop up, by its instructions and the model of the pipeline.
struct LoopCause {
  std::string word;
  double confidence = 0;
  std::string evidence, next;
};
[[nodiscard]] std::optional<LoopCause> cause_of(const ObjectLoop& loop, const Profile& profile);

/// Figures "cliff_<level>": median time per byte beyond a level over that within it, where it is at
/// least `cache_cliff`. Calls that are too short to be judged do not count.
[[nodiscard]] std::vector<ProfileFigure> cache_cliffs(const std::vector<SweepPoint>& sweep);

/// Of a profile that a GPU profiler's export gave: "launch", "compute", "memory", "mixed", "tail",
/// "latency" or "unknown".
[[nodiscard]] BottleneckState classify_gpu(const Profile& profile);

} // namespace kw
