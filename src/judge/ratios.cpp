// SPDX-License-Identifier: Apache-2.0
#include "judge/ratios.hpp"

#include "stats/robust.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <numeric>

namespace kw {

double log_ratio(const RoundTimes& times) {
  return std::log(times.ns[0] / times.ns[1]);
}

double combined_ratio(const RoundOutcome& outcome, const std::vector<BoundWorkload>& workloads,
                      Objective objective) {
  std::vector<TimePair> pairs;
  for (const RoundTimes& t : outcome.times) {
    const BoundWorkload& w = workloads[t.workload];
    pairs.push_back({.baseline = t.ns[0],
                     .candidate = t.ns[1],
                     .weight = w.timing_weight,
                     .count = 1 + static_cast<double>(w.twins.size())});
  }
  return log_speedup(objective, pairs);
}

double drift_of(const std::vector<double>& ratios) {
  std::vector<double> order(ratios.size());
  std::iota(order.begin(), order.end(), 0.0);
  return spearman(order, ratios);
}

bool is_drifting(const std::vector<double>& ratios) {
  return ratios.size() >= 16 && std::abs(drift_of(ratios)) > 0.7;
}

void append_round(std::vector<PairedTiming>& all, const RoundOutcome& outcome,
                  const std::vector<BoundWorkload>& workloads, const std::string& baseline) {
  for (const RoundTimes& t : outcome.times) {
    auto found = std::find_if(all.begin(), all.end(), [&](const PairedTiming& p) {
      return p.uuid == workloads[t.workload].workload.uuid && p.baseline == baseline;
    });
    if (found == all.end()) {
      all.push_back({.uuid = workloads[t.workload].workload.uuid,
                     .twins = workloads[t.workload].twins,
                     .baseline = baseline});
      found = std::prev(all.end());
    }
    found->log_ratios.push_back(log_ratio(t));
    found->baseline_ns.push_back(t.ns[0]);
    found->candidate_ns.push_back(t.ns[1]);
  }
}

void summarise(std::vector<PairedTiming>& all) {
  for (PairedTiming& p : all) {
    const MedianInterval interval = median_interval(p.log_ratios, 0.95);
    p.speedup = std::exp(median(p.log_ratios));
    p.low = std::exp(interval.low);
    p.high = std::exp(interval.high);
  }
}

AxisVerdict merit_of(const GateReading& reading) {
  AxisVerdict merit;
  const double estimate = std::exp(median(reading.ratios));
  const bool drift = is_drifting(reading.ratios);
  if (!reading.loser.empty()) {
    merit.outcome = Outcome::fail;
    merit.summary = fmt::format("slower than `{}` by more than {:.0f} % on {}", reading.baseline,
                                100 * tolerated_loss, reading.loser);
  } else if (reading.decision == GateDecision::faster && !drift) {
    merit.outcome = Outcome::pass;
    merit.summary = fmt::format("faster than `{}` by more than {:.0f} % (gate estimate {:.2f}x)",
                                reading.baseline, 100 * reading.min_effect, estimate);
  } else if (reading.decision == GateDecision::not_faster) {
    merit.outcome = Outcome::fail;
    merit.summary = fmt::format("not faster than `{}` by {:.0f} % (gate estimate {:.3f}x)",
                                reading.baseline, 100 * reading.min_effect, estimate);
  } else {
    merit.summary = drift ? "undecided: the ratio drifted during the run"
                          : fmt::format("undecided after {} rounds (gate estimate {:.3f}x)",
                                        reading.ratios.size(), estimate);
  }
  return merit;
}

} // namespace kw
