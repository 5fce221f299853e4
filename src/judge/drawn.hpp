// SPDX-License-Identifier: Apache-2.0
// Outputs drawn at random (tensor/sampling.hpp) within a trial, and whether many draws of one
// candidate follow the probabilities.
#pragma once

#include "judge/binding.hpp"
#include "model/verdict.hpp"
#include "tensor/sampling.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// Output `output` of `workload`, which is drawn from an input; `places` is what an arm returned,
/// `logits` the content of that input.
[[nodiscard]] SamplingResult check_draws(const BoundWorkload& workload, std::size_t output,
                                         std::span<const std::byte> places,
                                         std::span<const std::byte> logits,
                                         const std::function<double(std::int64_t)>& share);

/// The draws of one candidate.
class DrawTally {
 public:
  /// Those of one call; calls of one workload are taken to follow each other.
  void add(const std::string& workload, std::span<const Draw> draws);
  /// A second call on the same logits with another seed.
  void add_reseeded(std::span<const Draw> first, std::span<const Draw> second);

  [[nodiscard]] bool empty() const { return draws_ == 0; }
  [[nodiscard]] DrawEvidence evidence() const;

 private:
  static constexpr std::size_t bins = 32, side = 6; ///< of a single draw, of each of a pair
  using Pairs = std::array<std::uint64_t, side * side>;
  static void note(Pairs& pairs, double a, double b);

  std::uint64_t draws_ = 0;
  std::array<std::uint64_t, bins> by_rank_{}, by_place_{};
  Pairs rows_{}, calls_{};
  std::map<std::string, std::vector<Draw>> open_; ///< the call that the next one is paired with
  double equal_ = 0, equal_expected_ = 0;
  std::uint64_t reseeded_ = 0;
};

/// A right sampler fails one of the tests of a campaign this often.
inline constexpr double draw_alarm = 1e-4;

/// The test that fails most clearly, as a sentence with figures; "" where all hold.
[[nodiscard]] std::string draws_fault(const DrawEvidence& evidence);
/// "12,000 draws follow the probabilities: least p 0.03 of 5 tests (from 2e-05 on they fail)".
[[nodiscard]] std::string draws_sentence(const DrawEvidence& evidence);

} // namespace kw
