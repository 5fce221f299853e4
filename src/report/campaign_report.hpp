// SPDX-License-Identifier: Apache-2.0
// Several definitions optimised one after the other: one table, and one page for docs.
#pragma once

#include "stats/aggregate.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kw {

/// One workload of a promoted kernel: times over the rounds of its confirmation, ns.
struct CampaignWorkload {
  std::string axes;
  std::size_t count = 1; ///< workloads that it stands for
  std::size_t rounds = 0;
  double median = 0, p95 = 0, min = 0, max = 0;
  double speedup = 0, low = 0, high = 0; ///< over the baseline, 95 %
  double bound_fraction = 0;             ///< roofline floor / median; 0 = unknown
  std::string peer;                      ///< fastest peer here, "" = none ran
  double over_peer = 0;                  ///< its median / the kernel's
};

struct CampaignRow {
  std::string track, definition;
  std::string state; ///< "promoted", "baseline stands", "void", "missing", "failed", "interrupted"
  std::string reason, run, record;
  double speedup = 0, low = 0, high = 0; ///< confirmed, under the campaign's objective
  std::size_t workloads = 0;             ///< all it covers
  std::uint64_t trials = 0, replayed = 0, replay_failures = 0;
  Aggregates aggregates;
  double over_peers = 0;     ///< geometric mean of t_fastest_peer / t over workloads; 0 = none ran
  double bound_fraction = 0; ///< geometric mean; 0 = unknown
  double score = 0;          ///< arithmetic mean of baseline / latency, 0 unless all correct
  std::vector<CampaignWorkload> per_workload;
};

struct CampaignReport {
  std::string name, description, objective, machine, compiler, date, version, command;
  std::vector<CampaignRow> rows;
};

/// Mean over the definitions of a track, then over tracks; a missing definition counts 0.
[[nodiscard]] double campaign_score(const CampaignReport& report);
[[nodiscard]] std::string campaign_table(const CampaignReport& report, bool colour);
[[nodiscard]] std::string campaign_markdown(const CampaignReport& report);

} // namespace kw
