// SPDX-License-Identifier: Apache-2.0
// One trial: fresh secret inputs, one call, every element of every output compared with the oracle.
// Timing windows are made of the same trials; there is no other way to call a candidate.
#pragma once

#include "base/result.hpp"
#include "judge/binding.hpp"
#include "judge/held.hpp"
#include "judge/sampled.hpp"
#include "model/verdict.hpp"
#include "oracle/oracle.hpp"
#include "runner/session.hpp"
#include "tensor/generate.hpp"
#include "tensor/sampling.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// What makes a trial replayable: everything drawn follows from the seed and these.
struct TrialKey {
  std::uint64_t trial = 0;
  InputClass input_class = InputClass::normal;
  Placement placement = Placement::end_aligned;
  std::uint32_t poison = 0;
  bool reseeded = false; ///< seeds of outputs drawn at random anew, all else as without
};

struct TrialResult {
  bool ok = false;
  Finding finding = Finding::none;
  std::string detail; ///< one sentence when !ok
  std::string remedy; ///< what to look at, where the sentence does not say
  std::optional<Mismatch> mismatch;
  double ns = 0; ///< of the call
  double cpu_ns = 0,
         accounted_ns = 0; ///< CPU time until frozen, and the wall time it was counted over
  double max_eta = 0, max_abs = 0, max_rel = 0;
  std::optional<RankingEvidence> ranking;  ///< of outputs that rank an input, or select
  std::vector<Draw> draws;                 ///< of outputs that are drawn from one
  std::optional<RowEvidence> sampled_rows; ///< where rows alone were compared
  double strain = 0;          ///< largest error as a share of what was allowed; 0 for exact outputs
  bool worth_recheck = false; ///< the arm died: it must be spawned anew
};

/// Oracle values of the staged inputs: views into the frozen oracle's own memory, which no other
/// arm maps. Valid until the oracle is called again.
struct Expected {
  struct Tensor {
    std::span<const double> y, magnitude;
    /// Outputs that select: of the candidates [rows, n], as are the magnitudes then. `y` is one
    /// right answer, `chosen` owns it.
    std::span<const double> ids, scores;
    std::shared_ptr<const std::vector<double>> chosen;
  };
  std::vector<Tensor> outputs;
  std::optional<SampledExpectation> sampled; ///< instead of every element, for huge products
};

/// Bytes of the arrays that the oracle fills for an output: y; y and S; of an output that selects
/// ids, scores and S of the candidates.
[[nodiscard]] std::vector<std::size_t> oracle_bytes(const BoundOutput& output, bool magnitudes);

/// Input classes that the trials of a workload rotate over.
[[nodiscard]] std::vector<InputClass> classes_of(const BoundWorkload& workload);

/// Milliseconds by purpose, for the verdict's cost line.
using Costs = std::map<std::string, double>;

class TrialRunner {
 public:
  TrialRunner(Session& session, Arm& oracle_arm, const Oracle& oracle, Seed seed, int workers)
      : session_(session), oracle_arm_(oracle_arm), oracle_(oracle), seed_(seed),
        workers_(workers) {}

  /// Draws and stages the inputs of (workload, key).
  Status stage(const BoundWorkload& workload, const TrialKey& key);
  /// Where an input lies, until the next stage(). Writing to it falsifies what the next call sees.
  [[nodiscard]] std::span<std::byte> staged(std::size_t input) const { return staged_.at(input); }
  /// The arguments of the staged trial, scalars filled in.
  [[nodiscard]] std::vector<Argument> arguments() const;
  /// Calls one arm on the staged inputs. `timed`: for a comparison, so a call that is not warm
  /// finds the caches cold, and waiting for a CPU is measured.
  Result<CallReport> call(Arm& arm, bool warm, bool timed = false);
  /// Oracle values of the staged inputs. May restage; call it after the arms.
  Result<Expected> expect(bool timed);
  /// Compares what an arm returned. `slack` widens every bound: for the task lint alone.
  TrialResult check(const CallReport& report, const Expected& expected, double slack = 1) const;
  /// Whether an output that ranks an input is right.
  [[nodiscard]] bool right_places(std::size_t output, const CallReport& report) const;
  /// What an output holds that is drawn from an input.
  [[nodiscard]] SamplingResult draws(std::size_t output, const CallReport& report) const;
  /// The bound of one output of the staged workload.
  [[nodiscard]] Bound bound_for(const BoundOutput& output, const Expected::Tensor& expected,
                                bool magnitudes) const;

  void reseed(const Seed& seed) {
    seed_ = seed;
    costs_.clear();
  }
  [[nodiscard]] Costs& costs() { return costs_; }
  /// Secret coin flips for order, class and placement: a pure function of (seed, trial).
  [[nodiscard]] std::uint64_t coin(std::uint64_t trial) const;
  /// Per-call limit: generous, from the workload's own size.
  [[nodiscard]] static std::chrono::milliseconds call_limit(const BoundWorkload& workload);

 private:
  /// What a staged input of int32 or int64 holds.
  [[nodiscard]] std::vector<std::int64_t> staged_indices(std::size_t input) const;
  void draw_input(const BoundInput& input, std::uint32_t index, std::span<std::byte> to);
  [[nodiscard]] CompareResult compare_all(const BoundOutput& output, std::span<const std::byte> got,
                                          const Expected::Tensor& expected,
                                          const Bound& bound) const;
  /// An output that ranks an input; false: it is wrong, and `result` says how.
  bool check_ranked(std::size_t output, const CallReport& report, const Expected& expected,
                    TrialResult& result) const;
  /// The same for an output that selects among candidates.
  bool check_selected(std::size_t output, const CallReport& report, const Expected& expected,
                      double slack, TrialResult& result) const;
  /// The same for an output that is drawn from an input.
  bool check_sampling(std::size_t output, const CallReport& report, TrialResult& result) const;
  Result<Expected> expect_sampled();
  /// Key of the guard bytes around the buffers of the staged trial.
  [[nodiscard]] std::uint64_t canary() const;
  /// The oracle gives inputs near-ties that only it can place.
  Status make_near_ties();
  /// The arguments of the staged trial as the oracle's further entries take them.
  [[nodiscard]] std::vector<Argument> oracle_arguments(const std::vector<Argument>& extras,
                                                       const std::vector<Argument>& outputs) const;
  [[nodiscard]] bool may_sample(double limit) const;
  Result<CallReport> call_oracle(std::size_t entry, std::vector<Argument> arguments,
                                 std::vector<std::size_t> output_bytes);

  Session& session_;
  Arm& oracle_arm_;
  const Oracle& oracle_;
  Seed seed_;
  int workers_;
  const BoundWorkload* workload_ = nullptr;
  TrialKey key_;
  std::vector<double> scalars_;
  std::vector<std::size_t> input_bytes_;
  std::vector<std::span<std::byte>> staged_;
  std::map<std::uint32_t, HeldTensor> held_; ///< by index of the input
  Costs costs_;
};

/// Above this many floating-point operations a call is verified by Freivalds projections over the
/// whole output plus exact rows and columns, or by exact rows alone (docs/numerics.md), if the
/// oracle offers them.
inline constexpr double full_oracle_flops = 20e9;
/// The same inside timing windows, where the oracle runs at every call.
inline constexpr double full_oracle_flops_timed = 1e9;

} // namespace kw
