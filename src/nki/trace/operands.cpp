// SPDX-License-Identifier: Apache-2.0
#include "nki/trace/operands.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

std::string shape_text(const Tensor& t) {
  return fmt::format("[{}]", fmt::join(t.view.shape(), ", "));
}

/// Partition that an access begins at, where it is known before the run.
std::optional<std::int64_t> first_partition(const Tensor& t, const Buffer& b) {
  if (!on_chip(b.memory) || t.view.axes.size() <= static_cast<std::size_t>(b.partition_axis))
    return std::nullopt;
  const Affine& base = t.view.axes[static_cast<std::size_t>(b.partition_axis)].base;
  return base.is_constant() ? std::optional(base.constant) : std::nullopt;
}

} // namespace

bool check_tile(Session& s, const TensorPtr& t, std::string_view parameter) {
  if (!t)
    return false;
  if (t->poison)
    return true;
  const Buffer& b = s.buffer(*t);
  const std::string who = b.name.empty() ? std::string(parameter) : b.name;
  if (!on_chip(b.memory)) {
    s.report({.code = "err_unsupported_memory",
              .message = fmt::format("`{}` of {} is in {}: engines read SBUF and PSUM only",
                                     parameter, s.api, name(b.memory)),
              .edit = fmt::format("load it first: {} = nl.load({})", who, who),
              .operands = {{std::string(parameter), t}}});
    return false;
  }
  if (!is_tile(t->view, b)) {
    s.report({.code = "err_failed_to_infer_tile_from_local_tensor",
              .message = fmt::format(
                  "`{}` of {} is no tile: its first dimension is not that of the partitions", who,
                  s.api),
              .edit = "index its blocks: name[i] or name[i, i_p, i_f]",
              .operands = {{std::string(parameter), t}}});
    return false;
  }
  const std::int64_t partitions = t->view.dims.empty() ? 1 : t->view.dims[0].size;
  if (partitions > s.core().partitions) {
    s.report({.code = "err_num_partition_exceed_arch_limit",
              .message = fmt::format("`{}` of {} has {} partitions", who, s.api, partitions),
              .limit = fmt::format("{} partitions", s.core().partitions),
              .edit = "work on tiles of nl.tile_size.pmax rows",
              .operands = {{std::string(parameter), t}}});
    return false;
  }
  if (const auto first = first_partition(*t, b); first && *first != 0 && partitions > 0) {
    const std::int64_t grain = partitions > 64 ? 128 : partitions > 32 ? 64 : 32;
    if (*first % grain != 0)
      s.report({.code = "NK-start-partition",
                .message = fmt::format("`{}` of {} begins at partition {} with {} partitions", who,
                                       s.api, *first, partitions),
                .limit = partitions > 64   ? "start 0 for more than 64 partitions"
                         : partitions > 32 ? "start 0 or 64 for 33 to 64 partitions"
                                           : "start 0, 32, 64 or 96 for up to 32 partitions",
                .edit = "place the rows at such a partition, or copy them by DMA",
                .operands = {{std::string(parameter), t}}});
  }
  return true;
}

bool check_partitions(Session& s, const std::vector<std::pair<std::string_view, TensorPtr>>& tiles,
                      bool broadcasts) {
  std::int64_t size = -1;
  for (const auto& [parameter, t] : tiles) {
    if (!t || t->poison || t->view.dims.empty())
      continue;
    const std::int64_t own = t->view.dims[0].size;
    if (size == -1 || (broadcasts && size == 1)) {
      size = own;
      continue;
    }
    if (own == size || (broadcasts && own == 1))
      continue;
    std::vector<std::pair<std::string, TensorPtr>> operands;
    std::string text;
    for (const auto& [p, x] : tiles)
      if (x) {
        operands.emplace_back(std::string(p), x);
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", p, shape_text(*x));
      }
    s.report(
        {.code = "err_num_partition_mismatch",
         .message = fmt::format("the operands of {} have different numbers of partitions: {}",
                                s.api, text),
         .edit =
             "give all the same first dimension; a single row is repeated by .broadcast_to((P, F))",
         .operands = operands});
    return false;
  }
  return true;
}

void check_one_psum(Session& s, std::string_view a, const TensorPtr& x, std::string_view b,
                    const TensorPtr& y) {
  if (!x || !y || x->poison || y->poison || s.memory(*x) != Memory::psum ||
      s.memory(*y) != Memory::psum)
    return;
  s.report({.code = "NK-both-psum",
            .message = fmt::format(
                "`{}` and `{}` of {} are both in PSUM: the engine reads at most one from there", a,
                b, s.api),
            .edit = "copy one to SBUF: nl.copy(tile)",
            .operands = {{std::string(a), x}, {std::string(b), y}}});
}

View column(const View& v, std::size_t rank) {
  View out = v;
  out.dims.assign(std::max<std::size_t>(rank, 1), View::Dim{1, 0});
  if (!v.dims.empty())
    out.dims[0] = v.dims[0];
  for (Index& axis : out.axes) {
    Index wide{.base = axis.base, .dims = std::vector<Index::Dim>(out.dims.size())};
    if (axis.dims.size() == v.dims.size() && !axis.dims.empty())
      wide.dims[0] = axis.dims[0];
    axis = std::move(wide);
  }
  return out;
}

View stretched(const View& v, const std::vector<std::int64_t>& shape) {
  View out = v;
  if (out.dims.size() < shape.size()) {
    const std::size_t more = shape.size() - out.dims.size();
    out.dims.insert(out.dims.begin(), more, View::Dim{1, 0});
    for (Index& axis : out.axes)
      axis = with_rank(axis, shape.size());
  }
  for (std::size_t j = 0; j < shape.size(); ++j)
    if (out.dims[j].size == 1 && shape[j] != 1)
      out.dims[j] = {shape[j], 0};
  return out;
}

std::optional<std::vector<std::int64_t>>
joined_shape(Session& s, const std::vector<std::pair<std::string_view, TensorPtr>>& tiles) {
  std::vector<std::int64_t> shape;
  for (const auto& [parameter, t] : tiles) {
    if (!t)
      continue;
    const std::vector<std::int64_t> own = t->view.shape();
    const auto joined = broadcast(shape, own);
    if (!joined) {
      std::vector<std::pair<std::string, TensorPtr>> operands;
      for (const auto& [p, x] : tiles)
        if (x)
          operands.emplace_back(std::string(p), x);
      s.report({.code = "NK-shape-mismatch",
                .message = fmt::format(
                    "the operands of {} have the shapes [{}] and [{}], which do not fit each other",
                    s.api, fmt::join(shape, ", "), fmt::join(own, ", ")),
                .edit = "give them equal shapes, or 1 where a dimension repeats",
                .operands = operands});
      return std::nullopt;
    }
    shape = *joined;
  }
  return shape;
}

Term term_of(Session& s, const Value& v, std::string_view parameter) {
  if (const auto* t = v.get<TensorPtr>()) {
    const bool ok = s.readable(*t, parameter) && check_tile(s, *t, parameter);
    return {.operand = {(*t)->view}, .tensor = *t, .element = (*t)->element, .ok = ok};
  }
  if (const auto x = number_of(v))
    return {
        .operand = {*x}, .tensor = nullptr, .element = element_of(v).value_or(Element::float32)};
  if (v.get<Index>() != nullptr) {
    s.report({.code = "NK-argument-type",
              .message = fmt::format(
                  "`{}` of {} is an index, whose value depends on a loop or on nl.arange",
                  parameter, s.api),
              .edit = "make a tile of it with nisa.iota(index, dtype=nl.int32)"});
    return {.operand = {0.0}, .tensor = nullptr, .ok = false};
  }
  s.report({.code = "NK-argument-type",
            .message = fmt::format("`{}` of {} is {}, and must be a tile or a number", parameter,
                                   s.api, kind_of(v)),
            .edit = "pass a tile or a number"});
  return {.operand = {0.0}, .tensor = nullptr, .ok = false};
}

Engine engine_for(Operation op, bool psum) {
  if (op == Operation::power)
    return Engine::gpsimd;
  if (is_unary(op) && activation_range(op) && op != Operation::reciprocal && op != Operation::abs)
    return Engine::scalar;
  if (op == Operation::rsqrt)
    return psum ? Engine::scalar : Engine::gpsimd;
  return Engine::vector;
}

Value elementwise(Session& s, Operation op, const Value& a, const Value* b,
                  std::optional<Element> dtype, const Mask& mask) {
  const Term x = term_of(s, a, "x");
  const Term y = b != nullptr ? term_of(s, *b, "y") : Term{};
  if (x.tensor == nullptr && y.tensor == nullptr) {
    if (x.ok && y.ok)
      s.report({.code = "NK-argument-type",
                .message = fmt::format("{} got no tile", s.api),
                .edit = "compute with Python where all is known before the run"});
    return {s.poison({1, 1}, Element::float32)};
  }
  const std::vector<std::pair<std::string_view, TensorPtr>> tiles = {{"x", x.tensor},
                                                                     {"y", y.tensor}};
  Element element = b == nullptr ? x.element : promote(x.element, y.element);
  if (is_comparison(op))
    element = Element::boolean;
  if (dtype)
    element = *dtype;
  if (is_bitvec(op)) {
    for (const Term* t : {&x, &y})
      if (t->tensor && !t->tensor->poison && is_floating(t->element)) {
        s.report({.code = "NK-bitvec-dtype",
                  .message =
                      fmt::format("{} works on bit patterns, and got {}", s.api, name(t->element)),
                  .edit = "use integer tiles",
                  .operands = {{"x", t->tensor}}});
        return {s.poison(t->tensor->view.shape(), element)};
      }
  }
  const auto shape = joined_shape(s, tiles);
  if (!x.ok || !y.ok || !shape || !check_partitions(s, tiles, true))
    return {s.poison(shape.value_or(std::vector<std::int64_t>{1, 1}), element)};
  const auto psum = [&](const Term& t) { return t.tensor && s.memory(*t.tensor) == Memory::psum; };
  check_one_psum(s, "x", x.tensor, "y", y.tensor);
  Instruction i{.kind = Kind::compute, .engine = engine_for(op, psum(x)), .mask = mask};
  if (i.engine == Engine::gpsimd && (psum(x) || psum(y)))
    s.report({.code = "err_unsupported_memory",
              .message = fmt::format("{} runs on GpSimdE, which cannot read PSUM", s.api),
              .edit = "copy the tile to SBUF: nl.copy(tile)",
              .operands = {{psum(x) ? "x" : "y", psum(x) ? x.tensor : y.tensor}}});
  if (x.tensor != nullptr) {
    i.sources = {x.operand};
    i.steps = {{.op = op, .with = y.operand}};
  } else {
    i.sources = {y.operand};
    i.steps = {{.op = op, .with = x.operand, .reversed = true}};
  }
  if (x.tensor != nullptr && op == Operation::copy && b == nullptr)
    i.steps.clear();
  return {s.emit_result(std::move(i), *shape, element)};
}

} // namespace kw::nki
