// SPDX-License-Identifier: Apache-2.0
// Who wrote each element of a buffer, and who read it: what tells reads of nothing, races between
// iterations of parallel loops, and outputs with holes.
//
// Time is a counter that rises at every iteration of a loop (and every program of a launch). An
// element remembers when it was last written and last read; 0 is never. An iteration of an
// affine_range knows when its loop began and when itself did: a stamp between the two belongs to
// another iteration, which may as well run at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kw::nki {

using Stamp = std::uint32_t;

/// Stamps [loop, iteration) are of other iterations.
struct ParallelSpan {
  Stamp loop = 0, iteration = 0;
  [[nodiscard]] bool holds(Stamp s) const { return loop <= s && s < iteration; }
};

enum class Hazard : std::uint8_t {
  none,
  uninitialised,    ///< read of an element that nobody wrote
  read_after_write, ///< of another iteration
  write_after_read,
  write_after_write,
};

/// A run of elements in a row: first, first + stride, ...
struct ElementRun {
  std::int64_t first = 0, stride = 1, count = 0;
};

/// Stamps of one buffer, kept for a chunk of a row as long as all of it has the same.
class Shadow {
 public:
  static constexpr std::int64_t chunk = 128; ///< elements; the last one of a row may have fewer

  /// `row`: elements of the last axis, > 0; divides `elements`.
  Shadow(std::int64_t elements, std::int64_t row);

  /// As if never touched; `written`: when all of it was, 0 = never.
  void reset(Stamp written);
  /// The first hazard of the run and its element, after which the stamps are brought up to date.
  /// `parallel`: the loops that the instruction is in. A reduction (x += y, in any order) may meet
  /// what other iterations wrote and read.
  Hazard read(const ElementRun& run, Stamp now, std::span<const ParallelSpan> parallel,
              bool reduction, std::int64_t& where);
  Hazard write(const ElementRun& run, Stamp now, std::span<const ParallelSpan> parallel,
               bool reduction, std::int64_t& where);
  /// Flags the elements of the run that nobody wrote, or that were made undefined. `flags` has one
  /// for each of them.
  void undefined(const ElementRun& run, std::vector<char>& flags) const;
  /// Flagged elements count as not written from now on: they were made of such.
  void undefine(const ElementRun& run, const std::vector<char>& flags);
  /// How many elements nobody wrote, and the first of them.
  [[nodiscard]] std::int64_t unwritten(std::int64_t& first) const;

 private:
  struct Stamps {
    Stamp written = 0, read = 0;
  };
  struct Chunk {
    Stamps all;
    std::int32_t split = -1; ///< place of its own stamps in `own_`, -1 = all alike
  };
  template <typename Check, typename Update>
  Hazard visit(const ElementRun& run, std::int64_t& where, Check check, Update update);
  [[nodiscard]] std::size_t chunk_of(std::int64_t element) const {
    return static_cast<std::size_t>(element / row_ * chunks_per_row_ + element % row_ / chunk);
  }
  Stamps* split(Chunk& c);
  void join(Chunk& c);

  std::int64_t elements_, row_, chunks_per_row_;
  std::vector<Chunk> chunks_;
  std::vector<std::vector<Stamps>> own_;
  std::vector<std::int32_t> free_; ///< places in `own_` that nobody uses
};

} // namespace kw::nki
