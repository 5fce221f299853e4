// SPDX-License-Identifier: Apache-2.0
// A tensor is drawn in tiles: random sequences -> class pattern -> scale and clamp -> storage.
// Every element depends only on (spec, class, seed, trial, tensor, index).
//
// Kinds:  any            floats: all classes; integers: [-1024, 1024), int8 its whole range
//         normal         zero mean, about unit variance, |x| <= 8; times scale
//         l2_normalized  as normal, then every row divided by its Euclidean norm; times scale
//         uniform        [low, high]; times scale. Integers: low, low + 1, ... below high
//         positive       as uniform, and never below the least normal number (integers: 1)
//         constant       value, in every class
//         indices        0 .. limit - 1
//         positions      0 .. limit - 1, ascending along the last axis: a contiguous run that
//         starts
//                        anywhere (mask_edges: at either end; uniform: with gaps)
//         offsets        0 .. limit, never falling, the ends included: where packed sequences
//                        begin (draw_offsets.cpp)
//         slots          different places of 0 .. limit - 1, then -1 to the end of the row
//                        (draw_slots.cpp)
//         lengths        0 .. limit, about what a kernel may stumble over (draw_lengths.cpp)
//         block_table    different pages of 0 .. limit - 1, as many as a sequence has, then pages
//                        that are not its own or -1 (draw_lengths.cpp)
//         fp8_pages      a cache of float8 vectors with a scale each (draw_fp8_pages.cpp)
// An unknown kind draws as "any": definitions are checked before anything is drawn.
#include "tensor/generate.hpp"

#include "base/result.hpp"
#include "tensor/convert.hpp"
#include "tensor/draw_plan.hpp"

#include <array>

namespace kw {
namespace {

void draw_constant(const DrawSpec& spec, std::int64_t count, std::span<std::byte> out) {
  std::array<double, 256> values{};
  values.fill(spec.value);
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t n = std::min<std::int64_t>(count - done, 256);
    from_double(spec.dtype, std::span(values).first(static_cast<std::size_t>(n)),
                out.subspan(byte_size(spec.dtype, done)));
    done += n;
  }
}

} // namespace

DrawPlan::DrawPlan(const DrawSpec& s, InputClass c, const Seed& seed, std::uint64_t trial,
                   std::uint32_t t)
    : spec(s), cls(c), tensor(t), stream(RandomStream::of(seed, trial, t)) {
  for (const std::int64_t extent : s.shape) {
    KW_ASSERT(extent >= 0);
    elements *= extent;
    longest_axis = std::max(longest_axis, extent);
  }
  columns = s.shape.empty() ? 1 : std::max<std::int64_t>(s.shape.back(), 1);
  rows = std::max<std::int64_t>(elements / columns, 1);
  tensor_words = stream.at(Channel::tensor, 0);
  if (s.lengths)
    lengths_stream = RandomStream::of(seed, trial, s.lengths->tensor);
}

void draw(const DrawSpec& spec, InputClass cls, const Seed& seed, std::uint64_t trial,
          std::uint32_t tensor, std::span<std::byte> out) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : spec.shape)
    elements *= extent;
  draw_range(spec, cls, seed, trial, tensor, 0, elements, out);
}

void draw_range(const DrawSpec& spec, InputClass cls, const Seed& seed, std::uint64_t trial,
                std::uint32_t tensor, std::int64_t first, std::int64_t count,
                std::span<std::byte> out) {
  KW_ASSERT(out.size() >= byte_size(spec.dtype, count));
  KW_ASSERT(spec.dtype != DType::float4_e2m1 || first % 2 == 0);
  if (spec.kind == "constant")
    return draw_constant(spec, count, out);
  const DrawPlan plan(spec, cls, seed, trial, tensor);
  KW_ASSERT(first >= 0 && count >= 0 && first + count <= plan.elements);
  if (spec.kind == "offsets")
    return draw_offsets(plan, first, count, out);
  if (spec.kind == "slots")
    return draw_slots(plan, first, count, out);
  if (spec.kind == "lengths")
    return draw_lengths(plan, first, count, out);
  if (spec.kind == "block_table")
    return draw_block_table(plan, first, count, out);
  if (spec.kind == "fp8_pages")
    return draw_fp8_pages(plan, first, count, out);
  if (!is_float(spec.dtype) || spec.kind == "indices" || spec.kind == "positions")
    return draw_integers(plan, first, count, out);
  draw_floats(plan, first, count, out);
}

} // namespace kw
