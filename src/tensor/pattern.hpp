// SPDX-License-Identifier: Apache-2.0
// How an input class shapes the values of one row segment.
#pragma once

#include "tensor/random.hpp"

#include <cstdint>
#include <span>

namespace kw {

/// A piece of one row (last axis): columns [column, column + x.size()).
struct RowSegment {
  std::int64_t row = 0, rows = 1;
  std::int64_t column = 0, columns = 1;
  RandomWords row_words{};    ///< random, the same for the whole row
  RandomWords tensor_words{}; ///< random, the same for the whole tensor
  std::uint32_t tensor = 0;
  std::int64_t longest_axis = 1;
  std::int64_t ranked = 0; ///< as DrawSpec
};

/// What the kind and the storage dtype leave room for.
struct Reach {
  DType dtype = DType::float32;
  int least_exponent = -20, largest_exponent = 20; ///< of the power-of-two scales
  float offset = 1e4F;                             ///< mean of `offset`, amplitude of `alternating`
  float noise = 1;                                 ///< standard deviation beside that offset
  float clip = 1e4F;                               ///< largest magnitude of `heavy_tail`
  bool extremes = true; ///< denormals, specials, max_finite, wide_mantissa mean something
};
/// Kind "any": everything that is still finite (and not all flushed to zero) in the dtype.
Reach reach_any(DType dtype);
/// Kinds "normal" and "l2_normalized": zero mean, about unit variance, never beyond 8.
Reach reach_normal(DType dtype);

/// Whether values of a class are exact integers whose sums must stay exact, so that only a power of
/// two may scale them.
bool keeps_integers(InputClass cls);

/// Unscaled float values; `z` are standard normals and `w` random words of the same elements.
void float_pattern(InputClass cls, const Reach& reach, const RowSegment& at,
                   std::span<const float> z, std::span<const std::uint32_t> w, std::span<float> x);

/// `near_ties`, where at.ranked is in [1, columns].
void near_ties_pattern(const Reach& reach, const RowSegment& at, std::span<const std::uint32_t> w,
                       std::span<float> x);

/// Position inside a bounded interval in units of 2^-32. `rest` stands for "nothing here".
/// `words` are overwritten in place.
void fraction_pattern(InputClass cls, const RowSegment& at, std::uint32_t rest,
                      std::span<std::uint32_t> words);

} // namespace kw
