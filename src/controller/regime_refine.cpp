// SPDX-License-Identifier: Apache-2.0
#include "controller/regime_refine.hpp"

#include "stats/robust.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace kw {
namespace {

using namespace refinement;

/// All workloads of a regime at one value of its axis: a condition cannot tell them apart.
struct Level {
  double at = 0;
  std::vector<std::size_t> workloads;
  double ns = 0;   ///< of one call of each, twins counted
  double rate = 0; ///< ln(ns per unit of work); meaningless while ns is 0
};

std::vector<Level> levels_of(const Regime& regime, const std::vector<BoundWorkload>& workloads,
                             const std::vector<double>& ns) {
  std::map<double, Level> by_value;
  std::map<double, double> work;
  for (const std::size_t w : regime.workloads) {
    const double at = workloads[w].axes.at(regime.axis);
    const double calls = 1 + static_cast<double>(workloads[w].twins.size());
    Level& level = by_value[at];
    level.at = at;
    level.workloads.push_back(w);
    level.ns += calls * ns[w];
    if (ns[w] > 0)
      work[at] += calls * cost(workloads[w]);
  }
  std::vector<Level> out;
  for (auto& [at, level] : by_value) {
    if (level.ns > 0 && work[at] > 0)
      level.rate = std::log(level.ns / work[at]);
    out.push_back(std::move(level));
  }
  return out;
}

double spread(const std::vector<Level>& levels, std::size_t from, std::size_t to) {
  double mean = 0, sum = 0;
  for (std::size_t i = from; i < to; ++i)
    mean += levels[i].rate / static_cast<double>(to - from);
  for (std::size_t i = from; i < to; ++i)
    sum += (levels[i].rate - mean) * (levels[i].rate - mean);
  return sum;
}

double mean_rate(const std::vector<Level>& levels, std::size_t from, std::size_t to) {
  double mean = 0;
  for (std::size_t i = from; i < to; ++i)
    mean += levels[i].rate / static_cast<double>(to - from);
  return mean;
}

/// Indices at which a new regime begins.
std::set<std::size_t> dominant_cuts(const std::vector<Level>& levels, double total) {
  std::set<std::size_t> cuts;
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (levels[i].ns >= dominant_share * total && levels.size() > 1)
      cuts.insert(i), cuts.insert(i + 1);
  cuts.erase(0);
  cuts.erase(levels.size());
  return cuts;
}

/// Where two levels of time per unit of work explain the regime far better than one; 0 = nowhere.
std::size_t change_point(const std::vector<Level>& levels) {
  if (std::any_of(levels.begin(), levels.end(), [](const Level& l) { return l.ns <= 0; }))
    return 0;
  const std::size_t n = levels.size();
  const double whole = spread(levels, 0, n);
  std::size_t best = 0;
  double least = (1 - explained) * whole;
  for (std::size_t cut = least_levels; cut + least_levels <= n; ++cut) {
    const double split = spread(levels, 0, cut) + spread(levels, cut, n);
    if (split <= least &&
        std::abs(mean_rate(levels, 0, cut) - mean_rate(levels, cut, n)) >= std::log(change))
      best = cut, least = split;
  }
  return best;
}

std::vector<Regime> cut_regime(const Regime& regime, const std::vector<Level>& levels,
                               const std::set<std::size_t>& cuts) {
  std::vector<Regime> out;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i == 0 || cuts.contains(i)) {
      if (!out.empty())
        out.back().border = assumed_border(levels[i - 1].at, levels[i].at);
      out.push_back(regime);
      out.back().workloads.clear();
      out.back().from = levels[i].at;
    }
    out.back().to = levels[i].at;
    out.back().workloads.insert(out.back().workloads.end(), levels[i].workloads.begin(),
                                levels[i].workloads.end());
  }
  out.back().border = regime.border;
  return out;
}

/// Applies `cuts_of` to every regime, as long as there may be more of them.
template <class CutsOf>
std::vector<Regime> cut_all(const std::vector<Regime>& regimes,
                            const std::vector<BoundWorkload>& workloads,
                            const std::vector<double>& ns, const CutsOf& cuts_of) {
  std::vector<Regime> out;
  std::size_t left = regimes.size();
  for (const Regime& regime : regimes) {
    --left;
    const std::vector<Level> levels = levels_of(regime, workloads, ns);
    std::set<std::size_t> cuts = cuts_of(levels);
    while (!cuts.empty() && out.size() + left + cuts.size() + 1 > most_regimes)
      cuts.erase(cuts.begin()); // the ones at smaller values matter least
    const std::vector<Regime> parts = cut_regime(regime, levels, cuts);
    out.insert(out.end(), parts.begin(), parts.end());
  }
  return out;
}

} // namespace

std::string leading_axis(const std::vector<BoundWorkload>& workloads,
                         const std::vector<double>& ns) {
  std::string best;
  double closest = least_rank_correlation;
  if (workloads.empty())
    return best;
  for (const auto& [axis, first] : workloads.front().workload.axes) {
    std::vector<double> values, times;
    std::set<double> distinct;
    for (std::size_t w = 0; w < workloads.size(); ++w)
      if (ns[w] > 0) {
        values.push_back(workloads[w].axes.at(axis));
        times.push_back(ns[w]);
        distinct.insert(values.back());
      }
    if (distinct.size() < 2 * least_levels)
      continue;
    if (const double rho = spearman(values, times); rho > closest)
      best = axis, closest = rho;
  }
  return best;
}

std::vector<Regime> refine_regimes(std::vector<Regime> regimes,
                                   const std::vector<BoundWorkload>& workloads,
                                   const std::vector<double>& ns) {
  if (regimes.size() == 1 && regimes[0].axis.empty())
    regimes[0].axis = leading_axis(workloads, ns);
  if (std::any_of(regimes.begin(), regimes.end(), [](const Regime& r) { return r.axis.empty(); }))
    return regimes; // told apart by their templates, not by one axis
  double total = 0;
  for (const Regime& regime : regimes)
    for (const Level& level : levels_of(regime, workloads, ns))
      total += level.ns;
  regimes = cut_all(regimes, workloads, ns,
                    [&](const std::vector<Level>& levels) { return dominant_cuts(levels, total); });
  regimes = cut_all(regimes, workloads, ns, [](const std::vector<Level>& levels) {
    const std::size_t cut = change_point(levels);
    return cut > 0 ? std::set<std::size_t>{cut} : std::set<std::size_t>{};
  });
  for (Regime& regime : regimes) {
    regime.weight = 0;
    for (const std::size_t w : regime.workloads)
      regime.weight += workloads[w].workload.weight;
    if (regime.from == 0 && regime.to == 0)
      for (const Level& level : levels_of(regime, workloads, ns)) {
        regime.from = regime.from == 0 ? level.at : std::min(regime.from, level.at);
        regime.to = std::max(regime.to, level.at);
      }
  }
  describe_row(regimes);
  return regimes;
}

} // namespace kw
