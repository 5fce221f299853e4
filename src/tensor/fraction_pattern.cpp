// SPDX-License-Identifier: Apache-2.0
// The classes inside a bounded interval: kinds "uniform", "positive", "indices", "positions", and
// every integer or bool tensor. A fraction q / 2^32 is mapped to the interval by the caller; a
// class only changes where in the interval the values lie, never the interval.
//
//   scale_sweep      q 2^-e, one e in 0..10 for the tensor       row_scales  one e per row
//   offset           within 2^-10 of the upper end               alternating lowest and highest
//   1/16 heavy_tail       fourth power of uniform: mostly low         sparse      mostly rest, as
//   for floats impulse          rest, but for one highest value per row     small_integers eight
//   levels ties             four values in all; 1/4 of the rows constant sorted           rows
//   ascending, descending, or nearly ascending max_finite       only the two ends ill_conditioned
//   some rows all high mask_edges       rest, but for the first, the last, both or no element of a
//   row everything else  uniform
#include "tensor/pattern.hpp"

#include <algorithm>

namespace kw {
namespace {

constexpr std::uint32_t highest = 0xffffffffu;

struct Pattern {
  const RowSegment& at;
  std::uint32_t rest;
  std::span<std::uint32_t> q;

  [[nodiscard]] std::int64_t column(std::size_t i) const {
    return at.column + static_cast<std::int64_t>(i);
  }
  void shifted(std::uint32_t shift) const {
    for (std::uint32_t& v : q)
      v >>= shift;
  }
  void only_at(std::int64_t chosen, std::uint32_t value) const {
    for (std::size_t i = 0; i < q.size(); ++i)
      q[i] = column(i) == chosen ? value : rest;
  }
  [[nodiscard]] std::int64_t random_column() const {
    return static_cast<std::int64_t>(at.row_words[1]) % at.columns;
  }
  void sparse() const {
    const std::uint32_t row_kind = at.row_words[0] % 8;
    if (row_kind == 0)
      return std::fill(q.begin(), q.end(), rest);
    if (row_kind == 1)
      return only_at(random_column(), at.row_words[2]);
    const std::uint32_t zeros = (205 + at.tensor_words[0] % 49) << 24;
    for (std::uint32_t& v : q) // the low byte decides nothing else: spread what is left
      v = v < zeros ? rest : (v - zeros) * (256 / (51 - at.tensor_words[0] % 49));
  }
  void ties() const {
    const bool constant = at.row_words[0] % 4 == 0;
    for (std::uint32_t& v : q)
      v = at.tensor_words[constant ? at.row_words[1] >> 30 : v >> 30];
  }
  void sorted() const {
    const std::uint32_t order = at.row_words[0] % 3;
    for (std::size_t i = 0; i < q.size(); ++i) {
      if (order == 2 && q[i] % 16 == 0)
        continue;
      const std::int64_t place = order == 1 ? at.columns - 1 - column(i) : column(i);
      // (place + fraction) / columns without losing order: quotient and remainder in integers.
      const auto length = static_cast<std::uint64_t>(at.columns);
      const auto high = static_cast<std::uint64_t>(place);
      q[i] = static_cast<std::uint32_t>(
          static_cast<unsigned __int128>((static_cast<unsigned __int128>(high) << 32) + q[i]) /
          length);
    }
  }
  void mask_edges() const {
    const std::uint32_t edges = at.row_words[0] % 4;
    for (std::size_t i = 0; i < q.size(); ++i) {
      const bool kept =
          (column(i) == 0 && (edges & 1u)) || (column(i) == at.columns - 1 && (edges & 2u));
      q[i] = kept ? q[i] : rest;
    }
  }
};

} // namespace

void fraction_pattern(InputClass cls, const RowSegment& at, std::uint32_t rest,
                      std::span<std::uint32_t> words) {
  const Pattern p{at, rest, words};
  switch (cls) {
  case InputClass::scale_sweep:
    return p.shifted(at.tensor_words[0] % 11);
  case InputClass::row_scales:
    return p.shifted(at.row_words[0] % 11);
  case InputClass::offset:
    for (std::uint32_t& v : words)
      v = highest - (v >> 10);
    return;
  case InputClass::alternating:
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = p.column(i) % 2 == 0 ? words[i] >> 4 : highest - (words[i] >> 4);
    return;
  case InputClass::heavy_tail:
    for (std::uint32_t& v : words) {
      const std::uint64_t square = (std::uint64_t{v} * v) >> 32;
      v = static_cast<std::uint32_t>((square * square) >> 32);
    }
    return;
  case InputClass::sparse:
    return p.sparse();
  case InputClass::impulse:
    return p.only_at(p.random_column(), highest);
  case InputClass::small_integers:
    for (std::uint32_t& v : words)
      v &= 0xe0000000u;
    return;
  case InputClass::ties:
    return p.ties();
  case InputClass::sorted:
    return p.sorted();
  case InputClass::max_finite:
    for (std::uint32_t& v : words)
      v = v >> 31 ? highest : 0;
    return;
  case InputClass::ill_conditioned:
    if (at.row == static_cast<std::int64_t>(at.tensor_words[1]) % at.rows ||
        at.row_words[0] % 8 == 0)
      for (std::uint32_t& v : words)
        v = highest - (v >> 6);
    return;
  case InputClass::mask_edges:
    return p.mask_edges();
  default:
    return;
  }
}

} // namespace kw
