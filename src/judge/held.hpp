// SPDX-License-Identifier: Apache-2.0
// A tensor too large to draw for every trial: drawn once, with runs of elements drawn anew for each
// trial. What trial n has is a pure function of (seed, n), as for any other input: base(seed), with
// draw(seed, n) in runs(seed, n). Two kinds of runs:
//
// - held (weights of gigabytes, InputRule::hold): random ones. A kernel that keeps something
// derived
//   from the content of an earlier call (unpacked weights, sums) is wrong where a run was rewritten
//   or put back. Runs begin anywhere, are of 1 to 4096 elements, half of them of at most 64, and
//   are in all parts of the tensor: no reading of less than the whole tells which have changed.
// - reached (caches of which a call uses some rows, InputRule::reached_by): every row that the
//   trial's indices name. All that a right answer depends on is fresh, then.
#pragma once

#include "tensor/generate.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kw {

struct HeldRun {
  std::int64_t first = 0, count = 0;
};
/// Elements that trial `trial` has of its own, about 1 % of a large tensor: one run for every
/// 65,536 elements, eight at least. Runs may overlap; bounds are even, for two to a byte.
[[nodiscard]] std::vector<HeldRun> held_runs(const DrawSpec& spec, const Seed& seed,
                                             std::uint64_t trial, std::uint32_t tensor);

/// The rows that `indices` name, joined where they touch; each has `row` elements. Indices outside
/// [0, rows) name none.
[[nodiscard]] std::vector<HeldRun> reached_runs(std::span<const std::int64_t> indices,
                                                std::int64_t rows, std::int64_t row);

/// What a trial draws: all but the runs is of class `base` and the same for all trials of a seed.
struct HeldDraw {
  const DrawSpec& spec;
  InputClass base, cls; ///< of what is held, and of the runs
  const Seed& seed;
  std::uint64_t trial = 0;
  std::uint32_t tensor = 0;
  /// Elements of the base that are drawn, and repeated to its end where no answer depends on them;
  /// 0 = all. Even.
  std::int64_t period = 0;
};

class HeldTensor {
 public:
  /// Fills `out` with what the trial has. Draws the base where seed, shape or dtype are not those
  /// of the call before; copies all of it where `out` is not the same memory, and else only puts
  /// back the runs of the call before. Nobody else writes to `out` in between, or forget() was
  /// called.
  void fill(const HeldDraw& draw, std::vector<HeldRun> runs, int workers, std::span<std::byte> out);
  /// `out` of the last call holds something else by now.
  void forget() { filled_ = {}; }

 private:
  DrawSpec spec_;
  Seed seed_{};
  std::vector<std::byte> base_; ///< one period of it
  std::span<std::byte> filled_; ///< has the base but for `runs_`
  std::vector<HeldRun> runs_;
};

} // namespace kw
