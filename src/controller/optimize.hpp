// SPDX-License-Identifier: Apache-2.0
// optimize: baseline -> propose -> build -> verify -> paired gate -> keep or reject -> archive,
// under a budget; then the winner is judged whole and its speed-up confirmed in fresh processes.
#pragma once

#include "archive/archive.hpp"
#include "base/result.hpp"
#include "controller/decision_log.hpp"
#include "controller/journal.hpp"
#include "controller/known.hpp"
#include "controller/proposer.hpp"
#include "controller/recorder.hpp"
#include "controller/regime.hpp"
#include "controller/rounds.hpp"
#include "controller/steering.hpp"
#include "judge/judge.hpp"
#include "model/probe.hpp"
#include "model/profile.hpp"
#include "search/space.hpp"
#include "search/tuner.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kw {

struct OptimizeOptions {
  double seconds = 300;    ///< for the search; the final judgement comes on top
  double gate_seconds = 0; ///< most of a gate inside it; 0 = an eighth of the time, at least 10
  int evaluations = 0;     ///< most candidates; 0 = as many as the time allows
  std::uint64_t seed = 0;  ///< of the tuner
  int screen_rounds = 5;
  std::string final_gate = "accept";
  RaceOptions race;          ///< of the deciding gates
  double final_alpha = 0.01; ///< of the whole winner's gate (alpha spending over attempts)
  bool peers = true;
  std::vector<PeerSpec> peer_list; ///< timed beside the winner when `peers`
  ControllerParts parts;
  Algorithm strategy = Algorithm::hybrid; ///< of the tuner
  /// Whether the winner is judged whole; a comparison of searches judges it itself.
  bool judge_whole = true;
  std::vector<std::string> proposers;  ///< as on the command line; empty = the tuner alone
  std::vector<std::string> references; ///< files of reference kernels to begin with
  double proposer_seconds = 600;       ///< most that one call of a command may take
  double attended_seconds = 0;     ///< how long a plateau waits for somebody; 0 = nobody is there
  bool approval = false;           ///< the winner waits for somebody's approval
  double cpu_seconds = 0;          ///< budget of CPU time; 0 = none
  double tokens = 0, cost_usd = 0; ///< budgets of paid proposers; 0 = none
};

/// One finished probe, for a progress line and the report.
struct ProbeEvent {
  int index = 0;      ///< from 1
  double seconds = 0; ///< since the start
  Probe probe;
  double best = 1; ///< champion's estimated speed-up in its regime after this probe
};

/// What the search settled on in one regime.
struct BranchRecord {
  std::size_t regime = 0;           ///< index into OptimizeOutcome::regimes
  std::string hypothesis, proposer; ///< "" = nothing correct was found
  double speedup = 0;               ///< over the baseline, an estimate; 0 = none ahead of it
  std::string state; ///< bottleneck of the champion when it was profiled last; "" = never
  double confidence = 0, headroom = 1;
};

/// One shape between two regimes, timed with the kernels of both.
struct BorderPoint {
  double at = 0;     ///< value of the axis
  double higher = 0; ///< ln(t_lower / t_higher): positive = the higher regime's kernel is faster
  bool held_out = false; ///< played no part in placing the border
};

struct BorderRecord {
  std::string axis;
  std::size_t lower = 0;            ///< index of the regime below it
  double assumed = 0, measured = 0; ///< last value that the lower kernel takes
  std::vector<BorderPoint> points;
  int held_out_agree = 0, held_out = 0; ///< shapes kept aside, and those on their right side
  std::string unmeasured;               ///< why the assumed border stands; "" = it was measured
};

/// What asking costs on a regime's representative call.
struct DispatchCost {
  std::size_t regime = 0;
  std::string axes;
  double ratio = 1; ///< t of the kernel alone / t through the dispatcher
};

struct DispatchRecord {
  std::vector<BorderRecord> borders;
  std::vector<DispatchCost> costs;
  std::string refused; ///< why there is one kernel for all instead; "" = dispatched
};

struct OptimizeOutcome {
  std::vector<ProbeEvent> events;
  /// What the search ends with, assembled; nullopt: no candidate beat the baseline, or a regime has
  /// no correct kernel.
  std::optional<Solution> winner;
  std::optional<Probe> champion; ///< judged whole; its verdict says whether it was accepted
  std::optional<Record> record;  ///< set when it was promoted
  bool interrupted = false;
  std::vector<Regime> regimes;
  std::vector<BranchRecord> branches;
  DispatchRecord dispatch;
  std::vector<RoundRecord> rounds;
  Usage usage;            ///< of all proposers, as they said
  double cpu_seconds = 0; ///< of the search: this process and those it ended
  std::vector<Steering> steering;
  double search_seconds = 0, total_seconds = 0; ///< of all sessions of the run together
  double build_seconds = 0;                     ///< of search_seconds: waiting for the compiler
};

/// A schedule space and the text of its template.
struct LoadedSpace {
  Space space;
  std::string template_text;
};

/// The bottleneck of a loaded subject on one workload. Errors are no reason to end a search.
using Profiler = std::function<Result<BottleneckState>(Subject&, std::size_t workload)>;

struct OptimizeHooks {
  /// ln(t_lower / t_higher) at shapes that no workload lists; empty = cannot be timed.
  std::function<Result<std::vector<double>>(const Solution& lower, const Solution& higher,
                                            const std::vector<Workload>& shapes)>
      crossover;
  /// What people said from line `from` of the ledger on; empty = nobody can say anything.
  std::function<Result<SteeringLines>(std::size_t from)> steering;
  /// In the order in which they get the seat; null = the tuner. Empty = the tuner alone.
  std::vector<std::shared_ptr<Proposer>> proposers;
  Profiler profile; ///< may be empty
  std::function<bool()> stop = [] { return false; };
  std::function<void(const ProbeEvent&)> probe = [](const ProbeEvent&) {};
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

/// Seconds that one gate inside the search may take.
[[nodiscard]] double gate_seconds(const OptimizeOptions& options);

/// What a run leaves behind and is resumed from.
struct RunMemory {
  Journal journal;
  DecisionLog log;
  Knowledge known; ///< of earlier runs of the same definition; only for a new run
};

/// Going through a journal that is not empty resumes its run. Errors: no space, baseline that fails
/// its own trials, a run that would now go otherwise, infrastructure.
Result<OptimizeOutcome> optimize(Judge& judge, const Solution& baseline,
                                 const std::vector<LoadedSpace>& spaces, const Recorder& recorder,
                                 const OptimizeOptions& options, RunMemory& memory,
                                 const OptimizeHooks& hooks);

} // namespace kw
