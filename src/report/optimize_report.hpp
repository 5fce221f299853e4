// SPDX-License-Identifier: Apache-2.0
// Everything a report of one `optimize` run shows. A plain record: whoever has the run fills it,
// the renderers here only draw it. All text in it may be hostile.
#pragma once

#include "model/probe.hpp"
#include "model/solution.hpp"
#include "model/verdict.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kw {

/// A resolved setting and where its value came from ("default", "kernwright.toml:4", "command
/// line").
struct ReportOption {
  std::string name, value, origin;
};

/// One workload: champion against the baseline and the peers. Times in nanoseconds per call.
struct ReportWorkload {
  std::string uuid;
  std::string axes;      ///< "m=1 n=4096"; shown instead of the uuid when set
  double weight = 1;     ///< relative; shares are computed over the report
  std::size_t count = 1; ///< workloads it stands for: equal ones are timed once
  double baseline_ns = 0, candidate_ns = 0;
  std::map<std::string, double> peers_ns; ///< by peer name
  double speedup = 0, low = 0, high = 0;  ///< of the confirmation, 95 %
  double floor_ns = 0;                    ///< roofline floor on this machine, 0 = unknown
  double bound_fraction = 0;              ///< floor_ns / candidate_ns, 0 = unknown
};

/// One attempt of the run, in order.
struct ReportProbe {
  int index = 0;
  double seconds = 0; ///< since the start of the run
  std::string id;
  std::string hypothesis;
  std::string outcome;  ///< "correct", "wrong", "build", "crash", ...: one word
  std::string finding;  ///< "NONE", "REJECT_WRONG", ...
  std::string decision; ///< keep | reject | promote | archive
  std::string reason;
  std::optional<double> speedup; ///< estimate against the baseline, where it was timed
};

/// One round of the search: what it set out to change and what came of it.
struct ReportRound {
  std::string regime;
  int number = 0;        ///< 0 = an interlude
  std::string state;     ///< bottleneck of the champion it started from, "" = not profiled yet
  std::string direction; ///< "model" = the proposer's free choice
  std::string proposer = "tuner";
  std::string why;
  double predicted = 1;     ///< speed-up the direction was expected to bring
  double measured = 1;      ///< of the champion after over before
  int tried = 0, valid = 0; ///< candidates; right ones among them
  std::string intervention; ///< of the supervisor, before the round; "" = none
};

/// One branch of the dispatch: a regime, what serves it, and what bounds that.
struct ReportBranch {
  std::string regime, condition; ///< over axes; "" = every call that is left
  std::size_t workloads = 0;
  double share = 0; ///< of all weights, 0 to 1
  std::string kernel, proposer;
  double speedup = 0; ///< estimate of the search, against the baseline; 0 = the baseline stands
  std::string state;  ///< "" = not profiled
  double confidence = 0, headroom = 1;
};

/// What a run used up, and all runs of its definition together.
struct ReportCost {
  double search_seconds = 0, cpu_seconds = 0;
  double tokens = 0, cost_usd = 0;
  std::size_t evaluations = 0;
  std::size_t all_runs = 0, all_probes = 0, all_promotions = 0;
  double all_seconds = 0; ///< of judging
};

struct OptimizeReport {
  std::string run;        ///< "0007"
  std::string definition; ///< name
  std::string description;
  std::string version;    ///< Kernwright's own
  std::string started_at; ///< ISO 8601 UTC
  double wall_seconds = 0;
  std::string budget; ///< "5m", "200 probes"
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<ReportOption> options;
  std::string baseline;
  std::vector<std::string> peers; ///< in display order
  std::vector<ReportWorkload> workloads;
  std::vector<ReportProbe> probes;
  std::vector<ReportRound> rounds;
  std::vector<ReportBranch> branches;
  std::vector<Contribution> contributions;                   ///< of the winner
  std::vector<std::pair<std::string, std::string>> steering; ///< who; what they said
  ReportCost cost;
  std::string champion;            ///< solution name; "" when nothing beat the baseline
  Verdict verdict;                 ///< of the champion, or of the best attempt
  std::vector<SourceFile> sources; ///< of the champion
  std::string record;              ///< id of the sealed record, may be empty
  std::string seed_commitment, seed;
  std::string replay_command;
};

/// "m=1 n=4096", or the uuid where no axes are known.
[[nodiscard]] inline const std::string& label(const ReportWorkload& w) {
  return w.axes.empty() ? w.uuid : w.axes;
}

} // namespace kw
