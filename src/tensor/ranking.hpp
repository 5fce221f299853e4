// SPDX-License-Identifier: Apache-2.0
// Top-k outputs: the places of the k greatest elements of each row, in descending order. Where
// elements are equal every order and every choice among them is right, so places cannot be held
// against one answer. They are held against the row itself.
#pragma once

#include "base/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace kw {

struct RankingData {
  DType scores_dtype = DType::float32;
  std::span<const std::byte> scores; ///< [rows, n]
  DType places_dtype = DType::int32;
  std::span<const std::byte> places; ///< [rows, k], k <= n
  std::span<const std::byte> values; ///< [rows, k] of the scores' type; empty: no such output
  std::int64_t rows = 0, n = 0, k = 0;
  std::string_view scores_name = "x", values_name = "values";
};

enum class RankingFault { none, out_of_range, repeated, other_value, order, not_greatest };
/// "", "out of range", "repeated", "other value", "order", "not the greatest".
[[nodiscard]] std::string_view name(RankingFault f);

struct RankingResult {
  std::uint64_t rows = 0, bad_rows = 0;
  std::uint64_t elements = 0, bad = 0; ///< of the places
  // The first bad place, in words too; `want` is what the order with the lowest places first has.
  RankingFault fault = RankingFault::none;
  std::uint64_t first_bad = 0; ///< flat index
  double got = 0, want = 0;
  std::string words;
  // How hard the rows were: distance between the k-th and the next element.
  std::uint64_t tied_rows = 0; ///< rows where they are equal: more than one answer is right
  /// Least distance where they are not, in steps of the scores' type. Infinite: nothing to say.
  double least_margin = std::numeric_limits<double>::infinity();
};

/// A row is right when every place lies in [0, n), none appears twice, `values` (if there are any)
/// hold the scores at these places, no score stands behind a smaller one, and no score that was
/// left out is greater than one that was taken. Nothing is rounded: scores are compared as stored.
///   -0 and +0 are equal. +Inf is above, -Inf below every number.
///   NaN is above +Inf, and every NaN equals every other, as in torch.topk.
/// Errors are counted by place, except that of scores left out only as many count as were taken
/// in their stead.
[[nodiscard]] RankingResult check_ranking(const RankingData& data);

/// Steps of the dtype between two of its numbers, counted at the smaller one (in magnitude).
/// Infinite where one is not finite.
[[nodiscard]] double steps_between(DType dtype, double a, double b);

} // namespace kw
