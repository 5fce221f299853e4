// SPDX-License-Identifier: Apache-2.0
// Shape of one draw and its random sequences.
#pragma once

#include "tensor/pattern.hpp"
#include "tensor/random.hpp"

#include <algorithm>
#include <cstdint>

namespace kw {

struct DrawPlan {
  DrawSpec spec;
  InputClass cls;
  std::uint32_t tensor;
  RandomStream stream;
  std::int64_t elements = 1, columns = 1, rows = 1, longest_axis = 1;
  RandomWords tensor_words{};
  RandomStream lengths_stream; ///< of spec.lengths->tensor

  DrawPlan(const DrawSpec& spec, InputClass cls, const Seed& seed, std::uint64_t trial,
           std::uint32_t tensor);

  [[nodiscard]] RandomWords row_words(std::int64_t row) const {
    return stream.at(Channel::rows, static_cast<std::uint64_t>(row));
  }

  /// Calls body(segment, offset, length) for every piece of a row in [first, first + count).
  template <class Body> void by_row(std::int64_t first, std::size_t count, const Body& body) const {
    for (std::size_t done = 0; done < count;) {
      const std::int64_t index = first + static_cast<std::int64_t>(done);
      RowSegment at;
      at.row = index / columns, at.rows = rows;
      at.column = index % columns, at.columns = columns;
      at.row_words = row_words(at.row);
      at.tensor_words = tensor_words;
      at.tensor = tensor, at.longest_axis = longest_axis;
      at.ranked = std::min(spec.ranked, columns);
      const std::size_t length =
          std::min(count - done, static_cast<std::size_t>(columns - at.column));
      body(at, done, length);
      done += length;
    }
  }
};

/// Elements [first, first + count) into `out`.
void draw_floats(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                 std::span<std::byte> out);
void draw_offsets(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                  std::span<std::byte> out);
void draw_slots(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                std::span<std::byte> out);
void draw_lengths(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                  std::span<std::byte> out);
void draw_block_table(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                      std::span<std::byte> out);
void draw_fp8_pages(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                    std::span<std::byte> out);
void draw_integers(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                   std::span<std::byte> out);

} // namespace kw
