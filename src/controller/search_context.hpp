// SPDX-License-Identifier: Apache-2.0
// What the parts of one optimize run share: its tools, its options, and the log of finished probes.
#pragma once

#include "controller/decision_log.hpp"
#include "controller/journal.hpp"
#include "controller/optimize.hpp"

#include "os/clock.hpp"

#include <chrono>
#include <vector>

namespace kw {

using SteadyTime = std::chrono::steady_clock::time_point;

inline double seconds_since(SteadyTime start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct SearchContext {
  Judge& judge;
  const Solution& baseline;
  const std::vector<LoadedSpace>& spaces;
  const Recorder& recorder;
  const OptimizeOptions& options;
  const OptimizeHooks& hooks;
  Journal& journal;
  DecisionLog& log;
  Bindings facts;
  int index = 0;    ///< of the last probe
  double spent = 0; ///< seconds of all recorded effects: the clock of every decision
  double built = 0; ///< those of them that went to the compiler
  SteadyTime mark = std::chrono::steady_clock::now(); ///< end of the last effect
  std::vector<ProbeEvent> events;
  std::vector<RoundRecord> rounds = {};
  Usage usage = {};     ///< of all proposers
  double cpu_spent = 0; ///< CPU seconds of all recorded effects
  double cpu_mark = process_cpu_seconds();
  std::vector<Steering> steering = {};       ///< heard so far
  std::vector<Contribution> references = {}; ///< kernels from outside, with their provenance
  std::size_t heard = 0;                     ///< lines of the ledger

  /// Writes into an effect's result what was used up since the last one.
  void stamp(Json& result);
  /// The run's clock goes on by what an effect took when it was carried out.
  void spend(const Json& result);
  /// What was used up until now belongs to no effect.
  void begin_effect();
};

/// A process of its own for the baseline. Error: it does not build or load.
Result<Subject> load_baseline(SearchContext& context);

} // namespace kw
