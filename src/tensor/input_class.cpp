// SPDX-License-Identifier: Apache-2.0
#include "tensor/generate.hpp"

#include <algorithm>
#include <array>

namespace kw {
namespace {

constexpr std::array<std::string_view, 19> class_names{
    "normal",     "uniform",   "scale_sweep", "row_scales",     "offset",          "alternating",
    "heavy_tail", "sparse",    "impulse",     "small_integers", "wide_mantissa",   "ties",
    "sorted",     "denormals", "specials",    "max_finite",     "ill_conditioned", "mask_edges",
    "near_ties"};

using enum InputClass;

} // namespace

std::string_view name(InputClass c) {
  return class_names[static_cast<std::size_t>(c)];
}

std::optional<InputClass> input_class_from_name(std::string_view s) {
  const auto* const found = std::find(class_names.begin(), class_names.end(), s);
  if (found == class_names.end())
    return std::nullopt;
  return static_cast<InputClass>(found - class_names.begin());
}

std::vector<InputClass> all_input_classes() {
  std::vector<InputClass> all;
  all.reserve(class_names.size());
  for (std::size_t i = 0; i < class_names.size(); ++i)
    all.push_back(static_cast<InputClass>(i));
  return all;
}

std::vector<InputClass> applicable_classes(const DrawSpec& spec) {
  if (spec.kind == "constant" || spec.kind == "offsets")
    return {normal};
  if (spec.kind == "slots" || spec.kind == "lengths" || spec.kind == "block_table")
    return {normal, mask_edges};
  if (spec.kind == "fp8_pages")
    return {normal,  uniform,        scale_sweep, row_scales, offset,     alternating, sparse,
            impulse, small_integers, ties,        denormals,  max_finite, near_ties};
  if (spec.kind == "positions")
    return {normal, uniform, mask_edges};
  if (spec.dtype == DType::boolean)
    return {uniform, sparse, impulse, ties, sorted, alternating, mask_edges};
  const bool is_real = is_float(spec.dtype);
  if (is_real && spec.kind == "l2_normalized") // scales divide out
    return {normal,  uniform,        offset, alternating, heavy_tail,      sparse,
            impulse, small_integers, ties,   sorted,      ill_conditioned, mask_edges};
  // Sixteen bits and more: below that there are hardly any values between which to be near.
  const bool is_ranked = spec.ranked > 0 && is_real && byte_size(spec.dtype, 1) >= 2;
  if (is_real && spec.kind == "normal") {
    std::vector<InputClass> some{
        normal, uniform, scale_sweep,    row_scales, offset, alternating,     heavy_tail,
        sparse, impulse, small_integers, ties,       sorted, ill_conditioned, mask_edges};
    if (is_ranked)
      some.push_back(near_ties);
    return some;
  }
  if (spec.kind != "any" || !is_real) // an interval
    return {uniform, scale_sweep,    row_scales, offset, alternating,     heavy_tail, sparse,
            impulse, small_integers, ties,       sorted, ill_conditioned, mask_edges};
  std::vector<InputClass> all = all_input_classes();
  std::erase(all, specials);
  std::erase(all, max_finite);
  if (!is_ranked)
    std::erase(all, near_ties);
  return all;
}

} // namespace kw
