// SPDX-License-Identifier: Apache-2.0
// A tensor too large to draw for every trial (weights of gigabytes): drawn once, with random runs
// of elements drawn anew for each trial. What trial n has is a pure function of (seed, n), as for
// any other input: base(seed), with draw(seed, n) in runs(seed, n).
//
// A kernel that keeps something derived from the content of an earlier call (unpacked weights,
// sums) is wrong where a run was rewritten or put back. Runs begin anywhere, are of 1 to 4096
// elements, half of them of at most 64, and are in all parts of the tensor: no reading of less than
// the whole tells which have changed.
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

class HeldTensor {
 public:
  /// Fills `out` with what the trial has. `base` is the class of what is held, `cls` that of the
  /// runs. Draws the base where seed, shape or dtype are not those of the call before.
  void fill(const DrawSpec& spec, InputClass base, InputClass cls, const Seed& seed,
            std::uint64_t trial, std::uint32_t tensor, int workers, std::span<std::byte> out);

 private:
  DrawSpec spec_;
  Seed seed_{};
  std::vector<std::byte> base_;
};

} // namespace kw
