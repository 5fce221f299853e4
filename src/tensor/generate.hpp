// SPDX-License-Identifier: Apache-2.0
// Secret inputs. Counter-based: element i of tensor t in trial n is a pure function of
// (seed, n, t, i), so any trial replays alone and generation is order-free.
#pragma once

#include "base/dtype.hpp"
#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

using Seed =
    std::array<std::uint8_t, 16>; ///< 128 secret bits; committed before a run, revealed after

/// The input classes of docs/numerics.md, rotated over the trials. What each class means for floats
/// is in float_pattern.cpp (near_ties.cpp), for bounded and integer kinds in fraction_pattern.cpp.
/// Only `specials` makes NaN, it and `near_ties` infinities; every other class stays finite in the
/// storage dtype.
enum class InputClass : std::uint8_t {
  normal,
  uniform,
  scale_sweep,
  row_scales,
  offset,
  alternating,
  heavy_tail,
  sparse,
  impulse,
  small_integers,
  wide_mantissa,
  ties,
  sorted,
  denormals,
  specials,
  max_finite,
  ill_conditioned,
  mask_edges,
  near_ties, ///< for inputs that an output ranks, and caches whose scores are ranked
};
[[nodiscard]] std::string_view name(InputClass c);
[[nodiscard]] std::optional<InputClass> input_class_from_name(std::string_view s);
[[nodiscard]] std::vector<InputClass> all_input_classes();

/// Lengths of sequences that lie in pages: an input of kind "lengths".
struct LengthSpec {
  std::int64_t limit = 0;          ///< tokens of the longest
  std::int64_t page = 1;           ///< tokens of a page
  std::vector<std::int64_t> edges; ///< lengths about which a kernel changes its ways
  std::uint32_t tensor = 0;        ///< which input it is
};

/// What one tensor needs (from Definition + InputRule + Workload; shapes resolved).
struct DrawSpec {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::string kind = "any"; ///< as InputRule::kind
  double low = 0, high = 1, scale = 1, value = 0;
  std::int64_t limit = 0;
  std::optional<LengthSpec> lengths; ///< kind "lengths": its own; "block_table": those it serves
  std::int64_t ranked = 0; ///< k, if an output has the places of each row's k greatest; 0: none has
};

/// Fills `out` (byte_size(dtype, elements) bytes). Values are rounded to the storage dtype.
void draw(const DrawSpec& spec, InputClass cls, const Seed& seed, std::uint64_t trial,
          std::uint32_t tensor, std::span<std::byte> out);
/// Elements [first, first + count) of the same tensor, bit for bit; `first` even for float4.
void draw_range(const DrawSpec& spec, InputClass cls, const Seed& seed, std::uint64_t trial,
                std::uint32_t tensor, std::int64_t first, std::int64_t count,
                std::span<std::byte> out);

/// Classes that give this tensor a distribution of its own and that a reduction survives: without
/// `specials` and `max_finite`, which a contract has to ask for. Never empty.
[[nodiscard]] std::vector<InputClass> applicable_classes(const DrawSpec& spec);

} // namespace kw
