// SPDX-License-Identifier: Apache-2.0
// An ablation: the same search with parts of it switched off, at equal budget on equal workloads,
// its champions raced against each other. Records and what follows from them alone
// (docs/ablation.md).
#pragma once

#include "base/result.hpp"
#include "controller/rounds.hpp"
#include "search/tuner.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kw {

/// One way to search: "full", "tuner" (nothing but the tuner), "random" (not even that), and "no-x"
/// for every part x of the controller.
struct AblationArm {
  std::string name;
  ControllerParts parts;
  Algorithm strategy = Algorithm::hybrid;
};
[[nodiscard]] std::vector<std::string> ablation_arm_names();
/// Error: no such arm.
Result<AblationArm> ablation_arm(const std::string& name);

/// How far the time of two arms may lie apart. Waiting for the compiler is left out: arms share a
/// build cache, so the first one waits for all.
struct MatchLimits {
  double wall_factor = 2;   ///< the slower one's over the faster one's
  double wall_seconds = 15; ///< a smaller difference never counts
};

struct AblationOptions {
  std::vector<std::string> arms{"full", "tuner", "random"};
  int seeds = 5;        ///< 1, 2, ...: of the tuner
  int evaluations = 60; ///< of one arm, seed and definition; over all its sessions
  int sessions = 1;     ///< runs that one arm makes one after the other in one archive
  std::vector<std::string> references; ///< kernels that arms with references begin with
  double longest_call_ms = 50;         ///< of the baseline, on a workload that is chosen
  double least_window_ms = 0;          ///< of every race and gate; 0 = calibrated
  MatchLimits limits;
};
/// Errors: arms twice or unknown; an arm that could not differ from `full`: `no-memory` where no
/// run has another before it, `no-references` without any.
Status check_ablation(const AblationOptions& options);

struct AblationWorkload {
  std::string uuid, axes, regime;
  double call_ns = 0; ///< of the baseline
  bool medoid = true; ///< false: the regime's medoid takes longer than allowed
};

/// One definition and what it is tried on.
struct AblationTask {
  std::string definition; ///< name
  std::string asked;      ///< as it was named: a name or a path
  std::string sources;    ///< hash of definition, templates, baseline
  std::vector<AblationWorkload> workloads;
  std::vector<std::string> left_out; ///< regimes without a workload, one sentence each
  double slot_seconds = 0;           ///< wall time of one verified call, mean over the workloads
};

struct AblationPlan {
  std::string started_at, version, hardware, compiler, flags;
  AblationOptions options;
  std::vector<AblationTask> tasks;
};

/// A run of an arm, or (arm "") the race of a seed's champions.
struct AblationStep {
  std::size_t task = 0;
  int seed = 1;
  std::string arm;
  [[nodiscard]] bool is_race() const { return arm.empty(); }
};
/// All of them in the order in which they are done: every definition once before a second seed, so
/// that an ablation that ends early is balanced; which arm goes first changes from one to the next.
[[nodiscard]] std::vector<AblationStep> ablation_steps(const AblationPlan& plan);
/// Those that `done` does not know.
[[nodiscard]] std::vector<AblationStep>
steps_left(const AblationPlan& plan, const std::function<bool(const AblationStep&)>& done);
/// Seconds that it will take, from what a call takes; docs/ablation.md has the constants.
[[nodiscard]] double expected_seconds(const AblationPlan& plan, const AblationStep& step);

/// What one arm did and ended with.
struct ArmRun {
  std::string arm;
  std::vector<std::string> workloads; ///< uuids, in file order
  int evaluations = 0;
  double seconds = 0;       ///< of its evaluations and profiles, all sessions
  double build_seconds = 0; ///< of these: waiting for the compiler
  std::string hash;         ///< of the champion's sources and build; "" = the baseline stands
  std::string champion;     ///< its name
};
/// Why two arms may not be compared; "" when they may.
[[nodiscard]] std::string unmatched(const ArmRun& a, const ArmRun& b, const MatchLimits& limits);

/// The champions of one seed in the same rounds. Equal ones enter once.
struct ChampionRace {
  struct Entrant {
    std::string hash, name;
    std::string fault; ///< why it was not timed: the baseline stands for it; "" = it was
  };
  std::vector<Entrant> entrants;
  std::vector<std::string> workloads; ///< that were timed
  std::vector<double> weights;        ///< of these
  /// ns per call, [round][workload][column]: the baseline, then every entrant without a fault.
  std::vector<std::vector<std::vector<double>>> rounds;
  double aa_sigma = 0;
  std::uint64_t discarded = 0; ///< disturbed rounds
  double seconds = 0;
};
/// Rounds below which a race decides nothing: the least for a 95 % sign-test interval.
inline constexpr std::size_t least_race_rounds = 6;
/// ln(t_b / t_a), positive where `a` is faster: the median over rounds of the weighted mean over
/// workloads. 0 for equal hashes, whatever the race says; "" is the baseline. nullopt: not timed.
[[nodiscard]] std::optional<double> champion_ratio(const ChampionRace& race, const std::string& a,
                                                   const std::string& b);

} // namespace kw
