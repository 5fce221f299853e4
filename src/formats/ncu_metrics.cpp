// SPDX-License-Identifier: Apache-2.0
#include "formats/ncu_metrics.hpp"

#include "base/strings.hpp"
#include "formats/gpu_reading.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace kw {
namespace {

enum class Kind { time, share, bytes, plain };
struct Known {
  std::string_view metric, title; ///< raw page, details page
  const char* figure;
  Kind kind;
};
/// "Memory Throughput" is a percentage in one section and bytes per second in another: a share
/// takes percentages alone. Of two names for one figure both count; parts of one figure are added.
constexpr std::array known{
    Known{"gpu__time_duration.sum", "Duration", "duration", Kind::time},
    Known{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "sm_share",
          Kind::share},
    Known{"", "SM [%]", "sm_share", Kind::share},
    Known{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput",
          "memory_share", Kind::share},
    Known{"", "Memory [%]", "memory_share", Kind::share},
    Known{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput", "dram_share",
          Kind::share},
    Known{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "SOL DRAM", "dram_share",
          Kind::share},
    Known{"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy",
          "achieved_occupancy", Kind::share},
    Known{"sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy",
          "theoretical_occupancy", Kind::share},
    Known{"launch__waves_per_multiprocessor", "Waves Per SM", "waves_per_sm", Kind::plain},
    Known{"launch__registers_per_thread", "Registers Per Thread", "registers", Kind::plain},
    Known{"launch__shared_mem_per_block_static", "Static Shared Memory Per Block", "static_shared",
          Kind::bytes},
    Known{"launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block",
          "dynamic_shared", Kind::bytes},
};

/// Ways in which the raw page counts stalls, best first; `_not_issued` twins are other counts.
struct StallFamily {
  std::string_view prefix, suffix;
};
constexpr std::array stall_families{
    StallFamily{"smsp__pcsamp_warps_issue_stalled_", ""},
    StallFamily{"smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"},
    StallFamily{"smsp__average_warp_latency_issue_stalled_", ".ratio"},
    StallFamily{"smsp__warp_issue_stalled_", "_per_warp_active.pct"},
};
constexpr std::size_t top_stalls = 3;

} // namespace

void NcuLaunch::metric(std::string_view name, std::string_view unit, std::string_view text) {
  const std::optional<double> number = printed_number(text);
  name = trim(name);
  unit = trim(unit);
  if (!number || *number < 0 || name.empty())
    return;
  for (const Known& k : known) {
    if (name != k.metric && name != k.title)
      continue;
    double value = *number;
    if (k.kind == Kind::time) {
      if (nanoseconds_in(unit) > 0)
        ns_ = value * nanoseconds_in(unit);
      return;
    }
    if (k.kind == Kind::share) {
      if (unit != "%" && unit != "pct")
        continue;
      value /= 100;
    } else if (k.kind == Kind::bytes) {
      if (bytes_in(unit) == 0)
        return;
      value *= bytes_in(unit);
    }
    values_.emplace(k.figure, value);
    return;
  }
  for (std::size_t family = 0; family < stall_families.size(); ++family) {
    const auto& [prefix, suffix] = stall_families[family];
    if (name.size() <= prefix.size() + suffix.size() || !name.starts_with(prefix) ||
        !name.ends_with(suffix))
      continue;
    const std::string_view reason =
        name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (reason != "selected" && is_identifier(reason) && !reason.ends_with("_not_issued"))
      stalls_[static_cast<int>(family)][std::string(reason)] = *number;
    return;
  }
}

std::vector<ProfileFigure> NcuLaunch::figures() const {
  std::vector<ProfileFigure> out;
  const auto take = [&](const char* name, const char* unit) {
    if (const auto at = values_.find(name); at != values_.end())
      out.push_back({name, at->second, unit, source_, 0.95});
  };
  for (const char* share :
       {"sm_share", "memory_share", "dram_share", "achieved_occupancy", "theoretical_occupancy"})
    take(share, "");
  take("waves_per_sm", "waves");
  take("registers", "per thread");
  const auto fixed = values_.find("static_shared"), dynamic = values_.find("dynamic_shared");
  if (fixed != values_.end() || dynamic != values_.end())
    out.push_back({"shared_memory",
                   (fixed != values_.end() ? fixed->second : 0) +
                       (dynamic != values_.end() ? dynamic->second : 0),
                   "bytes per block", source_, 0.95});
  for (const auto& [family, reasons] : stalls_) {
    double all = 0;
    for (const auto& [reason, weight] : reasons)
      all += weight;
    if (!(all > 0))
      continue;
    std::vector<std::pair<std::string, double>> sorted(reasons.begin(), reasons.end());
    std::ranges::stable_sort(sorted, std::ranges::greater{},
                             &std::pair<std::string, double>::second);
    for (std::size_t i = 0; i < std::min(top_stalls, sorted.size()); ++i)
      if (sorted[i].second > 0)
        out.push_back({"stall_" + sorted[i].first, sorted[i].second / all, "", source_, 0.9});
    break;
  }
  return out;
}

std::size_t NcuLaunch::title_length(std::string_view line) {
  std::size_t longest = 0;
  for (const Known& k : known)
    if (line.starts_with(k.title) && line.size() > k.title.size() && line[k.title.size()] == ' ')
      longest = std::max(longest, k.title.size());
  return longest;
}

} // namespace kw
