// SPDX-License-Identifier: Apache-2.0
// optimize: baseline -> propose -> build -> verify -> paired gate -> keep or reject -> archive,
// under a budget; then the winner is judged whole and its speed-up confirmed in fresh processes.
#pragma once

#include "archive/archive.hpp"
#include "base/result.hpp"
#include "controller/decision_log.hpp"
#include "controller/journal.hpp"
#include "controller/known.hpp"
#include "controller/recorder.hpp"
#include "controller/regime.hpp"
#include "controller/rounds.hpp"
#include "judge/judge.hpp"
#include "model/probe.hpp"
#include "model/profile.hpp"
#include "search/space.hpp"
#include "search/tuner.hpp"

#include <functional>
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
};

/// One finished probe, for a progress line and the report.
struct ProbeEvent {
  int index = 0;      ///< from 1
  double seconds = 0; ///< since the start
  Probe probe;
  double best = 1; ///< champion's estimated speed-up in its regime after this probe
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
  std::vector<RoundRecord> rounds;
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
  std::vector<KnownAttempt> known; ///< earlier runs of the same definition; only for a new run
};

/// Going through a journal that is not empty resumes its run. Errors: no space, baseline that fails
/// its own trials, a run that would now go otherwise, infrastructure.
Result<OptimizeOutcome> optimize(Judge& judge, const Solution& baseline,
                                 const std::vector<LoadedSpace>& spaces, const Recorder& recorder,
                                 const OptimizeOptions& options, RunMemory& memory,
                                 const OptimizeHooks& hooks);

} // namespace kw
