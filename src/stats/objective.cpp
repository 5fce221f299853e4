// SPDX-License-Identifier: Apache-2.0
#include "stats/objective.hpp"

#include "base/result.hpp"

#include <cmath>

namespace kw {
namespace {

struct Entry {
  Objective objective;
  std::string_view name, described;
};
constexpr Entry entries[] = {
    {Objective::weighted, "weighted", "geometric mean over workloads, weighted"},
    {Objective::geomean, "geomean", "geometric mean over workloads"},
    {Objective::mean_latency, "mean-latency", "ratio of mean latencies"},
    {Objective::mean_of_ratios, "mean-of-ratios", "arithmetic mean of ratios"},
    {Objective::p95, "p95", "ratio of 95th percentiles of latency"},
    {Objective::contest, "contest",
     "arithmetic mean of baseline/latency, all workloads correct: the contest's form, not its "
     "baseline"},
};

const Entry& entry(Objective objective) {
  for (const Entry& e : entries)
    if (e.objective == objective)
      return e;
  KW_ASSERT(false);
  return entries[0];
}

} // namespace

std::string_view name(Objective objective) {
  return entry(objective).name;
}

std::string_view described(Objective objective) {
  return entry(objective).described;
}

std::optional<Objective> objective_from_name(std::string_view text) {
  for (const Entry& e : entries)
    if (e.name == text)
      return e.objective;
  return std::nullopt;
}

std::vector<std::string> objective_names() {
  std::vector<std::string> out;
  for (const Entry& e : entries)
    out.emplace_back(e.name);
  return out;
}

double log_speedup(Objective objective, std::span<const TimePair> pairs) {
  KW_ASSERT(!pairs.empty());
  const Aggregates a = aggregate(pairs);
  switch (objective) {
  case Objective::geomean:
    return std::log(a.geomean);
  case Objective::mean_latency:
    return std::log(a.ratio_of_means);
  case Objective::mean_of_ratios:
  case Objective::contest:
    return std::log(a.mean_of_ratios);
  case Objective::p95:
    return std::log(a.p95_baseline / a.p95_candidate);
  case Objective::weighted:
    break;
  }
  return std::log(a.weighted_geomean);
}

} // namespace kw
