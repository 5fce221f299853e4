// SPDX-License-Identifier: Apache-2.0
// Timing: rounds of paired calls. In every call slot all contestants get the same fresh secret
// inputs in random order, one at a time, the others frozen; every output is verified. A window is
// the sum of go->done over its slots; an arm's time in a round is the median of its windows.
#pragma once

#include "base/result.hpp"
#include "judge/trial.hpp"
#include "model/verdict.hpp"
#include "stats/e_gate.hpp"
#include "stats/objective.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kw {

struct RaceOptions {
  EGateOptions gate;
  Objective objective = Objective::weighted;
  bool warm = true;           ///< false = cold protocol
  int windows = 3;            ///< per arm and round; 1 when a single call exceeds the window 8x
  double least_window_ns = 0; ///< 0 = from the session's calibration
  int most_calls = 160;       ///< per window: bounds the cost on tiny kernels
  int confirm_rounds = 21;    ///< over all process pairs
  int process_pairs = 3;
  bool remember_self_test = false;    ///< an A/A result of the last minute will do
  double seconds = 0;                 ///< stop adding rounds after this long; 0 = no limit
  std::vector<std::size_t> workloads; ///< which; empty = all but twins
};

/// A call shorter than this is mostly doorbell (0.3-0.4 us) and cache weather: ratios of such calls
/// say nothing about the kernels.
inline constexpr double least_call_ns = 5e3;

struct Contestant {
  std::string name;
  Arm* arm = nullptr;
  bool trusted = false; ///< baseline or peer: a wrong output is our problem, not a verdict
  bool checked = true;  ///< false for the copy peers, which compute nothing
};

/// Times of one workload in one round: nanoseconds per call, one per contestant.
struct RoundTimes {
  std::size_t workload = 0;
  std::vector<double> ns;
};

/// What a round produced. `failed` = index of an untrusted contestant whose output was wrong.
struct RoundOutcome {
  std::vector<RoundTimes> times;
  bool discarded = false; ///< judge-side disturbance, decided before looking at the times
  std::size_t failed = SIZE_MAX;
  TrialResult failure;
  std::uint64_t calls = 0;
};

class Race {
 public:
  Race(TrialRunner& trials, const std::vector<BoundWorkload>& workloads,
       std::vector<Contestant> contestants, RaceOptions options, double least_window_ns,
       std::uint64_t& next_trial, std::function<bool()> stop);

  /// Drops workloads whose call is too short to be timed from outside (they stay verified).
  /// Untimed: pays first-call costs and sizes the windows. The number of calls follows the first
  /// contestant (the baseline); a fast candidate may raise it, never lower it.
  Result<RoundOutcome> warm_up();
  Result<RoundOutcome> round();

  [[nodiscard]] const std::vector<std::size_t>& chosen() const { return chosen_; }
  /// CPU-seconds per second of wall time over the same intervals (go until frozen), one figure per
  /// completed round: at most the number of threads that ran, however slow the freeze was.
  [[nodiscard]] const std::vector<double>& cpu_shares(std::size_t contestant) const {
    return cpu_shares_[contestant];
  }

 private:
  Result<bool> slot(std::size_t workload, std::vector<double>& ns, RoundOutcome& outcome);

  TrialRunner& trials_;
  const std::vector<BoundWorkload>& workloads_;
  std::vector<Contestant> contestants_;
  RaceOptions options_;
  double least_window_ns_;
  std::uint64_t& next_trial_;
  std::function<bool()> stop_;
  std::vector<std::size_t> chosen_;
  std::vector<int> calls_;                    ///< per chosen workload
  std::vector<int> windows_;                  ///< per chosen workload
  double delay_ns_ = 0;                       ///< of the round under way
  std::vector<double> accounted_ns_, cpu_ns_; ///< of the round under way
  std::vector<std::vector<double>> cpu_shares_;
};

} // namespace kw
