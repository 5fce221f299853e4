// SPDX-License-Identifier: Apache-2.0
// Outputs drawn at random: per row one place of an input, as likely as the softmax of the row says
// (top-p: of its most probable part). Any place of that part is a right answer, so single draws are
// held against the part, and many of them against the probabilities (judge/drawn.hpp).
#pragma once

#include "base/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct SamplingData {
  DType logits_dtype = DType::float32;
  std::span<const std::byte> logits; ///< [rows, n], finite or -Inf, not all of a row -Inf
  DType places_dtype = DType::int32;
  std::span<const std::byte> places; ///< [rows]
  std::int64_t rows = 0, n = 0;
  double top_p = 1; ///< (0, 1]
  std::string_view logits_name = "logits";
};

/// One draw as numbers that are uniform in [0, 1) for a right sampler, whatever the row:
/// the mass before the place plus a random share of its own (randomised probability integral
/// transform: Brockwell 2007, Universal residuals). Both start anew from the part's own mass.
struct Draw {
  std::int64_t row = 0, place = 0;
  double by_rank = 0;  ///< places ordered by falling probability
  double by_place = 0; ///< in order
  double again = 0;    ///< chance that a second draw from this row is the same
};

enum class SamplingFault { none, out_of_range, impossible, outside_top_p };
/// "", "no such place", "impossible", "outside top-p".
[[nodiscard]] std::string_view name(SamplingFault f);

struct SamplingResult {
  std::uint64_t rows = 0, bad = 0;
  SamplingFault fault = SamplingFault::none; ///< of the first bad row
  std::uint64_t first_bad = 0;
  double got = 0, want = 0; ///< a right place: the most probable
  std::string words;
  /// Right draws of rows whose part is beyond doubt: where equal logits lie on both sides of its
  /// end, samplers may keep all of them or some.
  std::vector<Draw> draws;
};

/// Top-p keeps a place if the mass of all more probable ones is below top_p (Holtzman et al. 2020).
/// Sums of floats are not exact: that mass may be above it by this much. Logits within 4 units of
/// float32 rounding of each other count as equal: their exponentials may be, as those of all
/// subnormal numbers are.
inline constexpr double top_p_slack = 1e-4;
/// Places less probable than this, 2^-100, are never drawn: too little for float32 to hold beside
/// the rest, and nothing that an honest sampler meets in 10^20 draws.
inline constexpr double impossible = 0x1p-100;

/// `share(row)` in [0, 1): randomness of the caller's that the sampler does not know.
[[nodiscard]] SamplingResult check_sampling(const SamplingData& data,
                                            const std::function<double(std::int64_t)>& share);

} // namespace kw
