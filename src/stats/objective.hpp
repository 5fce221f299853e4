// SPDX-License-Identifier: Apache-2.0
// What "faster over many workloads" means. One is chosen before a run and recorded with every
// claim.
#pragma once

#include "stats/aggregate.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

enum class Objective {
  weighted,       ///< geometric mean of ratios, weighted by workload
  geomean,        ///< geometric mean of ratios, every workload once
  mean_latency,   ///< ratio of the arithmetic mean latencies
  mean_of_ratios, ///< arithmetic mean of ratios
  p95,            ///< ratio of the 95th percentiles of latency over workloads, nearest rank
  /// Form of the MLSys 2026 contest score: arithmetic mean of baseline / latency over all
  /// workloads, 0 unless every one is correct (arXiv 2607.17979). The official baseline is another
  /// one.
  contest,
};

[[nodiscard]] std::string_view name(Objective objective); ///< "weighted", "mean-latency", ...
[[nodiscard]] std::optional<Objective> objective_from_name(std::string_view text);
[[nodiscard]] std::vector<std::string> objective_names();
/// "geometric mean over workloads, weighted": what a figure under it is.
[[nodiscard]] std::string_view described(Objective objective);

/// ln of the aggregate speed-up of one round. Error-free; `pairs` is not empty.
[[nodiscard]] double log_speedup(Objective objective, std::span<const TimePair> pairs);

} // namespace kw
