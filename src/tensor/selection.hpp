// SPDX-License-Identifier: Apache-2.0
// Outputs that select: per row the ids of the k candidates with the greatest scores, in any order,
// then -1 where there are fewer candidates. Scores are computed, and computing them rounds, so that
// near the boundary several sets are right.
#pragma once

#include "base/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// What the oracle knows of the candidates of each row, [rows, n].
struct Candidates {
  std::span<const double> ids;        ///< all different within a row; -1: no candidate
  std::span<const double> scores;     ///< exact
  std::span<const double> magnitudes; ///< of what is rounded on the way to a score
};

struct SelectionData {
  Candidates candidates;
  DType ids_dtype = DType::int32;
  std::span<const std::byte> ids; ///< [rows, k], what a kernel answered
  std::int64_t rows = 0, n = 0, k = 0;
  double eta = 0; ///< a computed score is off by at most eta * unit * magnitude
  double unit = 0;
};

enum class SelectionFault { none, unreachable, repeated, missing, padding, not_greatest };
/// "", "unreachable", "taken twice", "missing", "padding", "not among the greatest".
[[nodiscard]] std::string_view name(SelectionFault f);

struct SelectionResult {
  std::uint64_t rows = 0, bad_rows = 0;
  std::uint64_t elements = 0, bad = 0; ///< of the ids
  // The first bad id, in words too; `want` is what the order of falling scores has there.
  SelectionFault fault = SelectionFault::none;
  std::uint64_t first_bad = 0; ///< flat index
  double got = 0, want = 0;
  std::string words;
  // Of rows with more candidates than places, where they are right.
  std::uint64_t contested = 0; ///< how many
  std::uint64_t open = 0;      ///< errors leave more than one set
  std::uint64_t other = 0;     ///< answered with another set than that of the exact scores
  double max_eta =
      0; ///< least error, in units, that explains the sets; from the worst pair of each
};

/// A row with c candidates is right when its first m = min(k, c) entries are ids of different
/// candidates, -1 fills the rest, and no candidate was left out whose score is certainly greater
/// than that of one taken:
///
///     score_left_out - e_left_out <= score_taken + e_taken,   e = eta * unit * magnitude
///
/// for every pair, which holds exactly when some scores within the errors have this set as their
/// greatest. With c <= k no score is looked at.
[[nodiscard]] SelectionResult check_selection(const SelectionData& data);

/// The ids of the k greatest of each row in falling order of scores, of equal ones the first, then
/// -1: [rows, k].
[[nodiscard]] std::vector<double> greatest_ids(const Candidates& candidates, std::int64_t rows,
                                               std::int64_t n, std::int64_t k);

} // namespace kw
