// SPDX-License-Identifier: Apache-2.0
// What a profile says about the bound of a kernel. Rules with explicit thresholds, asked in a fixed
// order; each adds its evidence, and a rule whose figures are missing does not fire.
#pragma once

#include "model/profile.hpp"

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

/// Of a profile that a GPU profiler's export gave: "launch", "compute", "memory", "mixed", "tail",
/// "latency" or "unknown".
[[nodiscard]] BottleneckState classify_gpu(const Profile& profile);

} // namespace kw
