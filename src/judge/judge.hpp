// SPDX-License-Identifier: Apache-2.0
// The judge of one Definition: builds, admits, verifies and times candidates without trusting them.
// Owns the session (arena, zygote), the oracle arm and the secret seed. One thread at a time.
#pragma once

#include "base/result.hpp"
#include "judge/binding.hpp"
#include "judge/drawn.hpp"
#include "judge/race.hpp"
#include "judge/trial.hpp"
#include "model/definition.hpp"
#include "model/solution.hpp"
#include "model/verdict.hpp"
#include "oracle/oracle.hpp"
#include "os/hardware_counters.hpp"
#include "runner/session.hpp"
#include "stats/trials.hpp"
#include "target/target.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kw {

struct JudgeContext {
  Target* target = nullptr;
  SessionOptions session; ///< capacities are computed by the judge
  OracleContext oracle;
  int workers = 1; ///< threads for drawing inputs, the oracle and comparing: all while no arm runs
  TensorReader read_input; ///< resolves safetensors inputs
  /// After a rejection, call the candidate up to three times more for Verdict::fib.
  bool fib_calls = false;
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string& stage, std::uint64_t done, std::uint64_t total)> progress =
      [](const std::string&, std::uint64_t, std::uint64_t) {};
  /// Fastest time (ns) physics allows for a workload on this machine; 0 = unknown.
  std::function<double(const BoundWorkload&)> floor_ns = [](const BoundWorkload&) { return 0.0; };
  /// The same from ceilings measured now: asked before anyone is called impossible, because stored
  /// ceilings may come from a busier hour.
  std::function<double(const BoundWorkload&)> fresh_floor_ns = [](const BoundWorkload&) {
    return 0.0;
  };
};

/// A candidate or baseline that was built, admitted and loaded.
struct Subject {
  Solution solution;
  TargetBuild build;
  std::unique_ptr<Arm> arm; ///< null when building or loading failed
  [[nodiscard]] bool loaded() const { return arm != nullptr; }
};

/// Addresses in a subject's object at which its process was seen while it was called.
struct SampledAddresses {
  std::vector<std::uint64_t> addresses; ///< of all its threads
  std::string missing;                  ///< why there are none
  /// Samples of each thread in the object, the caller first: summed over calls, and ordered within
  /// each call first (the busiest thread of every call, the second, ...).
  std::vector<std::size_t> by_thread, by_rank;
  /// Samples of the other threads outside the object, in the runner that hands out tasks.
  std::size_t handing_out = 0;
  HardwareCounts counts;
  std::string no_counts; ///< why there are none
};

/// ln(t_reference / t_candidate) over a few rounds on one workload.
struct ScreenReading {
  double ahead = 0; ///< median
  double least = 0; ///< smallest of a round
  std::size_t rounds = 0;
};

/// Several subjects timed in the same rounds: every ratio between them is a paired one.
struct SharedRounds {
  bool fit = false;                   ///< the baseline against itself was quiet enough
  double aa_sigma = 0;                ///< its noise, ln
  std::vector<std::size_t> workloads; ///< that were timed
  /// Nanoseconds per call, [round][workload][subject]; disturbed rounds are left out.
  std::vector<std::vector<std::vector<double>>> ns;
  std::uint64_t discarded = 0;   ///< disturbed rounds
  std::size_t failed = SIZE_MAX; ///< subject whose output was wrong, which ended it
  TrialResult failure;
};

class Judge {
 public:
  /// Errors: unusable definition or workload, oracle that does not build, sandbox below the
  /// definition's minimum tier.
  static Result<Judge> open(Definition definition, const std::vector<Workload>& workloads,
                            JudgeContext context);

  /// Starts a judgement of its own: all inputs from here on follow from `seed` and the order of
  /// calls, so that revealing one candidate's seed says nothing about the next one's.
  void begin(const Seed& seed);
  /// Build, admission, load: fills verdict.build and verdict.sandbox.
  Result<Subject> admit(const Solution& solution, Verdict& verdict);
  /// Builds several at once, on as many CPUs as the judge may use; for load().
  Result<std::vector<TargetBuild>> build(const std::vector<Solution>& solutions);
  /// The same for something that was built already (builds may overlap with everything else).
  Result<Subject> load(const Solution& solution, TargetBuild build, Verdict& verdict);
  /// Runs the trials of a gate ("smoke", "gate", "accept", "champion"): fills verdict.correctness,
  /// and verdict.fib on the way. `only` restricts it to some workloads (a search); empty = all.
  Status verify(Subject& subject, const std::string& gate, Verdict& verdict,
                const std::vector<std::size_t>& only = {});
  /// Untimed calls of builds with sanitizers ("address,undefined", "thread" after a comma), after
  /// verify() has passed: fills verdict.sanitized, and verdict.correctness where they find a fault.
  Status sanitize(const Subject& subject, const std::string& sanitizers, Verdict& verdict);
  /// Ends the subject's process, then looks for what it left behind (REJECT_SANDBOX) and whether
  /// the next one can be judged. Errors: infrastructure, when it cannot.
  Status examine(Subject& subject, Verdict& verdict);
  /// Paired e-gate of the candidate against the baseline: fills verdict.timing and .merit.
  /// Every timed call is verified; its trials count towards the verdict's bound.
  Status time(Subject& baseline, Subject& candidate, const RaceOptions& options, Verdict& verdict);
  /// Fresh process pairs, all workloads; the only source of a reported speed-up.
  /// `peers` ride along on the same staged inputs.
  Status confirm(const Subject& baseline, const Subject& candidate,
                 const std::vector<PeerSpec>& peers, const RaceOptions& options, Verdict& verdict);
  /// The baseline (subject 0) and any number of candidates (1, 2, ...) in the same rounds, in
  /// `process_pairs` sets of fresh processes; `confirm_rounds` in all. Every output is verified.
  Result<SharedRounds> race_all(Subject& baseline, const std::vector<const Subject*>& candidates,
                                const RaceOptions& options);
  /// The baseline beside the peers where no candidate beat it: a confirmation against itself. Fills
  /// verdict.times; merit stays unknown.
  Status place(Subject& baseline, const std::vector<PeerSpec>& peers, const RaceOptions& options,
               Verdict& verdict);
  /// Quick paired estimate for a search, no claim. Ends early where the candidate is clearly
  /// behind. A wrong output fills verdict.correctness and ends it.
  Result<ScreenReading> screen(Subject& reference, Subject& candidate, std::size_t workload,
                               int rounds, Verdict& verdict);
  /// Median of `calls` verified calls, in ns: where a profile begins, no claim. Calls that waited
  /// for a CPU are repeated, up to twice as many. 0 where a call failed, which fills
  /// verdict.correctness.
  Result<double> call_ns(Subject& subject, std::size_t workload, int calls, Verdict& verdict);
  /// Calls it until some hundred samples are there, or `seconds` have passed.
  Result<SampledAddresses> sample(Subject& subject, std::size_t workload, double seconds);
  /// Whether a call of it takes long enough to be timed from outside.
  Result<bool> timeable(Subject& subject, std::size_t workload);
  /// The baseline against itself: is this machine fit for timing?
  Status self_test(Subject& baseline, const RaceOptions& options, TimingEvidence& evidence);

  /// Spawns a fresh process for a subject.
  Result<std::unique_ptr<Arm>> spawn(const Subject& subject, LoadReport& report);

  [[nodiscard]] const Definition& definition() const { return definition_; }
  [[nodiscard]] const std::vector<BoundWorkload>& workloads() const { return workloads_; }
  [[nodiscard]] int workers() const { return context_.workers; }
  /// Inputs and oracle without a candidate: for the task lint.
  [[nodiscard]] TrialRunner& trials() { return *trials_; }
  [[nodiscard]] std::string tier() const { return session_->tier(); }
  /// Fills verdict.tier, .facilities and .tainted.
  void note_sandbox(Verdict& verdict) const;
  [[nodiscard]] const Oracle& oracle() const { return *oracle_; }
  [[nodiscard]] const Costs& costs() const { return trials_->costs(); }

 private:
  Judge() = default;
  [[nodiscard]] double least_window_ns(const RaceOptions& options) const;
  Race make_race(std::vector<Contestant> contestants, const RaceOptions& options);
  /// The trial's result; where `check_determinism` finds a fault, that one's.
  Result<TrialResult> verify_one(Subject& subject, const BoundWorkload& workload,
                                 const TrialKey& key, Verdict& verdict, WorkloadTrials& tally,
                                 bool check_determinism);
  Result<bool> verify_hidden(Subject& subject, const GateSize& size, Verdict& verdict);
  /// The candidate beside the Definition's baseline: fills verdict.precision. False when the
  /// candidate failed.
  Result<bool> weigh_precision(Subject& subject, Verdict& verdict);
  /// A trial's call once more. The first result, or what is wrong with the second.
  Result<TrialResult> repeat(Subject& subject, const BoundWorkload& workload, TrialKey key,
                             const TrialResult& first,
                             const std::vector<std::vector<std::byte>>& saved,
                             const Expected& expected, Verdict& verdict);
  /// The same with nothing but another seed, for outputs drawn at random.
  Result<TrialResult> reseed(Subject& subject, const BoundWorkload& workload, TrialKey key,
                             const TrialResult& first);
  /// All draws of a gate against their probabilities: fills verdict.draws, rejects what is off.
  bool weigh_draws(Verdict& verdict);
  Status run_gate(Subject& subject, const std::string& gate, Verdict& verdict,
                  const std::vector<std::size_t>& only);
  /// Holds a call's outputs against upstream's rule, if its inputs were like upstream's.
  void note_fib(const BoundWorkload& workload, InputClass input_class, const CallReport& report,
                const Expected& expected, Verdict& verdict) const;
  /// Makes up for trials that a rejection cut off, on the workload that failed.
  Status complete_fib(Subject& subject, Verdict& verdict);
  Result<SanitizedRun> sanitize_once(const Subject& subject, const std::string& sanitizers,
                                     Verdict& verdict);
  Result<Calibration> calibration();

  Definition definition_;
  std::vector<BoundWorkload> workloads_;
  JudgeContext context_;
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Arm> oracle_arm_;
  std::unique_ptr<TrialRunner> trials_;
  std::optional<TargetBuild> yardstick_; ///< the Definition's baseline, once it was built
  std::optional<Calibration> calibration_;
  std::optional<TimingEvidence> self_tested_; ///< the last self-test that found the machine fit
  std::chrono::steady_clock::time_point self_tested_at_;
  DrawTally draws_; ///< of the gate that runs
  std::uint64_t next_trial_ = 0;
};

/// Sets verdict.correctness (or the axis the finding belongs to) to fail, with its sentence.
void reject(Verdict& verdict, const TrialResult& result);
/// Fills word and accepted from the axes: what was asked for decides.
void conclude(Verdict& verdict, bool timing_asked);

} // namespace kw
