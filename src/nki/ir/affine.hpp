// SPDX-License-Identifier: Apache-2.0
// Indices that a kernel computes: affine in loop variables and in the places of a tile.
//
//   nl.arange(128)[:, None] + 128 * i        Index{base = 128 i, dims = {{128, 1}, {1, 0}}}
//
// Dimension j of an Index is dimension j of the tile that it makes; of size 1 it broadcasts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kw::nki {

using Variable = std::int32_t; ///< a loop of the trace or an axis of the launch grid

/// constant + sum of coefficient * variable. No coefficient is 0.
struct Affine {
  std::int64_t constant = 0;
  std::vector<std::pair<Variable, std::int64_t>> terms; ///< ascending variables

  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  /// `values[v]` is the value of variable v.
  [[nodiscard]] std::int64_t at(std::span<const std::int64_t> values) const;
  friend bool operator==(const Affine&, const Affine&) = default;
};
[[nodiscard]] Affine operator+(const Affine& a, const Affine& b);
[[nodiscard]] Affine operator*(const Affine& a, std::int64_t factor);

struct Index {
  struct Dim {
    std::int64_t size = 1, coefficient = 0;
    friend bool operator==(const Dim&, const Dim&) = default;
  };
  Affine base;
  std::vector<Dim> dims; ///< none: a scalar

  [[nodiscard]] bool is_scalar() const { return dims.empty(); }
  [[nodiscard]] std::optional<std::int64_t> constant() const; ///< of a scalar without variables
  friend bool operator==(const Index&, const Index&) = default;
};
[[nodiscard]] Index constant_index(std::int64_t value);
[[nodiscard]] Index variable_index(Variable v);

/// Sizes of both together, aligned at the last dimension as NumPy does; nullopt: they do not fit.
[[nodiscard]] std::optional<std::vector<std::int64_t>> broadcast(std::span<const std::int64_t> a,
                                                                 std::span<const std::int64_t> b);
/// nullopt: sizes that do not broadcast.
[[nodiscard]] std::optional<Index> add(const Index& a, const Index& b);
[[nodiscard]] Index scale(const Index& a, std::int64_t factor);
/// With as many dimensions as `rank`, new ones in front.
[[nodiscard]] Index with_rank(Index a, std::size_t rank);

/// All of `conditions` are >= 0: half-spaces of loop variables and places.
struct Mask {
  std::vector<Index> conditions;
  [[nodiscard]] bool empty() const { return conditions.empty(); }
  friend bool operator==(const Mask&, const Mask&) = default;
};

/// "128*i0 + e1 - 5": `names[v]` for variables, e<j> for the place along dimension j.
[[nodiscard]] std::string to_text(const Index& index, std::span<const std::string> names);

} // namespace kw::nki
