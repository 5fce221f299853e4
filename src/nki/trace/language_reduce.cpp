// SPDX-License-Identifier: Apache-2.0
// Reductions of nki.language, and the functions that are made of them.
// Source: nki.language reference, Neuron SDK 2.24.
#include "nki/trace/language.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

using Op = Operation;

/// A tile whose reduced dimensions come last, and how many they are; 0: refused, which is reported.
/// Free dimensions change places by their access pattern, at no cost.
struct Reduced {
  TensorPtr tile;
  int n = 0;
  Mask mask;
};

Index permuted(const Index& index, const std::vector<std::size_t>& order) {
  Index out = with_rank(index, order.size());
  const std::vector<Index::Dim> dims = out.dims;
  for (std::size_t j = 0; j < order.size(); ++j)
    out.dims[j] = dims[order[j]];
  return out;
}

Reduced trailing(Session& s, const TensorPtr& x, const Bound& b) {
  const auto rank = static_cast<std::int64_t>(x->view.dims.size());
  const std::vector<std::int64_t> given = b.integers("axis");
  std::vector<std::size_t> axes, order;
  bool right = !given.empty();
  for (const std::int64_t a : given) {
    const std::int64_t at = a < 0 ? a + rank : a;
    right = right && at > 0 && at < rank &&
            std::ranges::find(axes, static_cast<std::size_t>(at)) == axes.end();
    axes.push_back(static_cast<std::size_t>(at));
  }
  if (!right) {
    s.report({.code = "NK-reduce-axis",
              .message = fmt::format("{} reduces axes [{}] of a tile of {} dimensions", s.api,
                                     fmt::join(given, ", "), rank),
              .limit = "free dimensions; never the partitions (axis 0)",
              .edit = "transpose first, or multiply by a vector of ones with nl.matmul",
              .operands = {{"x", x}}});
    return {};
  }
  std::ranges::sort(axes);
  for (std::size_t j = 0; j < static_cast<std::size_t>(rank); ++j)
    if (std::ranges::find(axes, j) == axes.end())
      order.push_back(j);
  order.insert(order.end(), axes.begin(), axes.end());
  auto tile = std::make_shared<Tensor>(*x);
  for (std::size_t j = 0; j < order.size(); ++j)
    tile->view.dims[j] = x->view.dims[order[j]];
  for (Index& axis : tile->view.axes)
    axis = permuted(axis, order);
  Mask mask = b.mask();
  for (Index& condition : mask.conditions)
    if (!condition.is_scalar())
      condition = permuted(condition, order);
  return {std::move(tile), static_cast<int>(axes.size()), std::move(mask)};
}

/// Of calls that give a tile of the same shape: only the last dimensions, in order.
Reduced only_trailing(Session& s, const TensorPtr& x, const Bound& b) {
  Reduced r = trailing(s, x, b);
  if (r.n == 0 || r.tile->view.dims == x->view.dims)
    return r;
  s.report({.code = "NK-reduce-axis",
            .message = fmt::format("{} along axes [{}] of a tile of {} dimensions", s.api,
                                   fmt::join(b.integers("axis"), ", "), x->view.dims.size()),
            .limit = "the last free dimensions, without gaps",
            .edit = "move these dimensions to the end with an index",
            .operands = {{"x", x}}});
  return {};
}

std::vector<std::int64_t> reduced_shape(const std::vector<std::int64_t>& shape, int n,
                                        bool keepdims) {
  std::vector<std::int64_t> out(shape.begin(), shape.end() - n);
  if (keepdims)
    out.insert(out.end(), static_cast<std::size_t>(n), 1);
  return out;
}

/// Sizes with 1 where a dimension was reduced, in the order of the tile.
std::vector<std::int64_t> kept_shape(const TensorPtr& x, const Bound& b) {
  std::vector<std::int64_t> shape = x->view.shape();
  for (const std::int64_t a : b.integers("axis"))
    shape[static_cast<std::size_t>(a < 0 ? a + static_cast<std::int64_t>(shape.size()) : a)] = 1;
  return shape;
}

Value reduce(Session& s, Bound& b, Op op) {
  const TensorPtr x = b.tensor("x");
  if (!x || !check_tile(s, x, "x"))
    return {s.poison({1, 1}, Element::float32)};
  const Reduced r = trailing(s, x, b);
  const Element element = op == Op::logical_and ? b.element("dtype").value_or(Element::boolean)
                                                : b.element("dtype").value_or(x->element);
  if (r.n == 0)
    return {s.poison({x->view.dims[0].size, 1}, element)};
  return {s.emit_result({.kind = Kind::compute,
                         .engine = Engine::vector,
                         .sources = {{r.tile->view}},
                         .reduce = op,
                         .reduced_dims = r.n,
                         .mask = r.mask},
                        b.flag("keepdims") ? kept_shape(x, b)
                                           : reduced_shape(r.tile->view.shape(), r.n, false),
                        element)};
}

std::int64_t reduced_count(const TensorPtr& x, int n) {
  std::int64_t count = 1;
  for (std::size_t j = x->view.dims.size() - static_cast<std::size_t>(n); j < x->view.dims.size();
       ++j)
    count *= x->view.dims[j].size;
  return count;
}

Value mean(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("x");
  if (!x || !check_tile(s, x, "x"))
    return {s.poison({1, 1}, Element::float32)};
  const Reduced r = trailing(s, x, b);
  const int n = r.n;
  const Element element = b.element("dtype").value_or(x->element);
  if (n == 0)
    return {s.poison({x->view.dims[0].size, 1}, element)};
  const TensorPtr sum = s.emit_result(
      {.kind = Kind::compute,
       .engine = Engine::vector,
       .sources = {{r.tile->view}},
       .reduce = Op::add,
       .reduced_dims = n,
       .mask = r.mask},
      b.flag("keepdims") ? kept_shape(x, b) : reduced_shape(r.tile->view.shape(), n, false),
      Element::float32);
  return {s.emit_result(
      {.kind = Kind::compute,
       .engine = Engine::vector,
       .sources = {{sum->view}},
       .steps = {{Op::multiply, {1.0 / static_cast<double>(reduced_count(r.tile, n))}}}},
      sum->view.shape(), element)};
}

Value var(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("x");
  if (!x || !check_tile(s, x, "x"))
    return {s.poison({1, 1}, Element::float32)};
  const Reduced r = only_trailing(s, x, b);
  const int n = r.n;
  const Element element = b.element("dtype").value_or(x->element);
  if (n == 0)
    return {s.poison({x->view.dims[0].size, 1}, element)};
  const std::size_t rank = x->view.dims.size();
  const double share = 1.0 / static_cast<double>(reduced_count(x, n));
  const Mask mask = b.mask();
  const TensorPtr sum = s.emit_result({.kind = Kind::compute,
                                       .engine = Engine::vector,
                                       .sources = {{x->view}},
                                       .reduce = Op::add,
                                       .reduced_dims = n,
                                       .mask = mask},
                                      reduced_shape(x->view.shape(), n, true), Element::float32);
  const TensorPtr average = s.emit_result({.kind = Kind::compute,
                                           .engine = Engine::vector,
                                           .sources = {{sum->view}},
                                           .steps = {{Op::multiply, {share}}}},
                                          sum->view.shape(), Element::float32);
  const TensorPtr distance = s.emit_result(
      {.kind = Kind::compute,
       .engine = Engine::vector,
       .sources = {{x->view}},
       .steps = {{Op::subtract, {rank == 2 ? column(average->view, rank) : average->view}},
                 {Op::square, {}}},
       .mask = mask},
      x->view.shape(), Element::float32);
  const TensorPtr squares =
      s.emit_result({.kind = Kind::compute,
                     .engine = Engine::vector,
                     .sources = {{distance->view}},
                     .reduce = Op::add,
                     .reduced_dims = n,
                     .mask = mask},
                    reduced_shape(x->view.shape(), n, false), Element::float32);
  return {s.emit_result({.kind = Kind::compute,
                         .engine = Engine::vector,
                         .sources = {{squares->view}},
                         .steps = {{Op::multiply, {share}}}},
                        squares->view.shape(), element)};
}

Value softmax(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("x");
  if (!x || !check_tile(s, x, "x"))
    return {s.poison({1, 1}, Element::float32)};
  const Reduced r = only_trailing(s, x, b);
  const int n = r.n;
  const Element element = b.element("dtype").value_or(x->element);
  if (n == 0)
    return {s.poison(x->view.shape(), element)};
  const std::vector<std::int64_t> kept = reduced_shape(x->view.shape(), n, true);
  const Mask mask = b.mask();
  const TensorPtr least = s.emit_result({.kind = Kind::compute,
                                         .engine = Engine::vector,
                                         .sources = {{x->view}},
                                         .reduce = Op::maximum,
                                         .reduced_dims = n,
                                         .negate = true,
                                         .mask = mask},
                                        kept, Element::float32);
  const TensorPtr powers = s.emit_result({.kind = Kind::compute,
                                          .engine = Engine::scalar,
                                          .sources = {{x->view}},
                                          .steps = {{Op::add, {least->view}}, {Op::exp, {}}},
                                          .mask = mask},
                                         x->view.shape(), Element::float32);
  const TensorPtr sum = s.emit_result({.kind = Kind::compute,
                                       .engine = Engine::vector,
                                       .sources = {{powers->view}},
                                       .reduce = Op::add,
                                       .reduced_dims = n,
                                       .mask = mask},
                                      kept, Element::float32);
  const TensorPtr inverse = s.emit_result({.kind = Kind::compute,
                                           .engine = Engine::vector,
                                           .sources = {{sum->view}},
                                           .steps = {{Op::reciprocal, {}}}},
                                          kept, Element::float32);
  return {s.emit_result({.kind = Kind::compute,
                         .engine = Engine::vector,
                         .sources = {{powers->view}},
                         .steps = {{Op::multiply, {inverse->view}}},
                         .mask = mask},
                        x->view.shape(), element)};
}

Value rms_norm(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("x"), w = b.tensor("w");
  if (!x || !w || !check_tile(s, x, "x") || !check_tile(s, w, "w"))
    return {s.poison({1, 1}, Element::float32)};
  const Reduced r = only_trailing(s, x, b);
  const int n = r.n;
  const Element element = b.element("dtype").value_or(x->element);
  const double count = number_of(b["n"]).value_or(1),
               epsilon = b.has("epsilon") ? number_of(b["epsilon"]).value_or(1e-6) : 1e-6;
  const auto shape = joined_shape(s, {{"x", x}, {"w", w}});
  if (n == 0 || !shape)
    return {s.poison(x->view.shape(), element)};
  const Mask mask = b.mask();
  const TensorPtr squares = s.emit_result({.kind = Kind::compute,
                                           .engine = Engine::scalar,
                                           .sources = {{x->view}},
                                           .steps = {{Op::square, {}}},
                                           .mask = mask},
                                          x->view.shape(), Element::float32);
  const TensorPtr sum = s.emit_result({.kind = Kind::compute,
                                       .engine = Engine::vector,
                                       .sources = {{squares->view}},
                                       .reduce = Op::add,
                                       .reduced_dims = n,
                                       .mask = mask},
                                      reduced_shape(x->view.shape(), n, true), Element::float32);
  const TensorPtr scale = s.emit_result(
      {.kind = Kind::compute,
       .engine = Engine::scalar,
       .sources = {{sum->view}},
       .steps = {{Op::multiply, {1.0 / count}}, {Op::add, {epsilon}}, {Op::rsqrt, {}}}},
      sum->view.shape(), Element::float32);
  const TensorPtr normal = s.emit_result({.kind = Kind::compute,
                                          .engine = Engine::vector,
                                          .sources = {{x->view}},
                                          .steps = {{Op::multiply, {scale->view}}},
                                          .mask = mask},
                                         x->view.shape(), Element::float32);
  return {s.emit_result({.kind = Kind::compute,
                         .engine = Engine::vector,
                         .sources = {{normal->view}},
                         .steps = {{Op::multiply, {w->view}}},
                         .mask = mask},
                        *shape, element)};
}

Value loop_reduce(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("x");
  const Op op = b.operation("op");
  if (!x || !check_tile(s, x, "x"))
    return {s.poison({1, 1}, Element::float32)};
  Instruction i{.kind = Kind::loop_reduce,
                .engine = Engine::vector,
                .sources = {{x->view}},
                .reduce = op,
                .mask = b.mask()};
  const Value& loops = b["loop_indices"];
  Values one{loops};
  for (const Value& v : loops.list() != nullptr ? *loops.list() : one)
    if (const auto* index = v.get<Index>(); index != nullptr && index->base.terms.size() == 1)
      i.loops.push_back(index->base.terms[0].first);
  if (i.loops.empty()) {
    s.report({.code = "NK-loop-indices",
              .message = "nl.loop_reduce needs the loops that it reduces over",
              .edit = "pass loop_indices=[i, j] with the variables of nl.affine_range"});
    return {x};
  }
  return {s.emit_result(std::move(i), x->view.shape(), b.element("dtype").value_or(x->element))};
}

constexpr std::string_view reduce_signature = "x, axis, *, dtype=None, mask=None, keepdims=False";

} // namespace

const std::vector<Call>& language_reduce_calls() {
  static const std::vector<Call> calls = {
      {"nl.max", reduce_signature, reduce, Op::maximum},
      {"nl.min", reduce_signature, reduce, Op::minimum},
      {"nl.sum", reduce_signature, reduce, Op::add},
      {"nl.prod", reduce_signature, reduce, Op::multiply},
      {"nl.all", "x, axis, *, dtype=None, mask=None", reduce, Op::logical_and},
      {"nl.mean", reduce_signature, mean},
      {"nl.var", "x, axis, *, dtype=None, mask=None", var},
      {"nl.softmax", "x, axis, *, dtype=None, compute_dtype=None, mask=None", softmax},
      {"nl.rms_norm", "x, w, axis, n, epsilon=None, *, dtype=None, compute_dtype=None, mask=None",
       rms_norm},
      {"nl.loop_reduce", "x, op, loop_indices, *, dtype=None, mask=None", loop_reduce},
  };
  return calls;
}

} // namespace kw::nki
