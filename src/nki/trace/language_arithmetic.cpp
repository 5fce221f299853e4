// SPDX-License-Identifier: Apache-2.0
// Arithmetic of nki.language, products, and what a kernel asks about its launch.
// Source: nki.language reference, Neuron SDK 2.24.
#include "nki/trace/language.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

using Op = Operation;

Value unary_call(Session& s, Bound& b, Op op) {
  return elementwise(s, op, b["x"], nullptr, b.element("dtype"), b.mask());
}

Value binary_call(Session& s, Bound& b, Op op) {
  return elementwise(s, op, b["x"], &b["y"], b.element("dtype"), b.mask());
}

Value where(Session& s, Bound& b, Op) {
  const TensorPtr condition = b.tensor("condition");
  const Term x = term_of(s, b["x"], "x"), y = term_of(s, b["y"], "y");
  if (!condition || !check_tile(s, condition, "condition"))
    return {s.poison({1, 1}, Element::float32)};
  const auto shape = joined_shape(s, {{"condition", condition}, {"x", x.tensor}, {"y", y.tensor}});
  const Element element = b.element("dtype").value_or(promote(x.element, y.element));
  if (!shape || !x.ok || !y.ok ||
      !check_partitions(s, {{"condition", condition}, {"x", x.tensor}, {"y", y.tensor}}, true))
    return {s.poison(condition->view.shape(), element)};
  return {s.emit_result({.kind = Kind::select,
                         .engine = Engine::vector,
                         .sources = {{condition->view}, x.operand, y.operand},
                         .mask = b.mask()},
                        *shape, element)};
}

Value transpose(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("x");
  if (!x || !check_tile(s, x, "x"))
    return {s.poison({1, 1}, Element::float32)};
  return s.transposed(x, b.element("dtype").value_or(x->element), b.mask(), Engine::none);
}

Value matmul(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("x"), y = b.tensor("y");
  if (!x || !y || !check_tile(s, x, "x") || !check_tile(s, y, "y"))
    return {s.poison({1, 1}, Element::float32)};
  TensorPtr stationary = x;
  if (!b.flag("transpose_x") &&
      !x->poison) { // K must lie in the partitions: a transpose and a copy first
    const Value t = s.transposed(x, x->element, {}, Engine::tensor);
    const TensorPtr tile = *t.get<TensorPtr>();
    if (!tile->poison)
      stationary = s.emit_result(
          {.kind = Kind::compute, .engine = Engine::vector, .sources = {{tile->view}}},
          tile->view.shape(), x->element);
  }
  return s.product(stationary, y, b.mask(), {});
}

Value dropout(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("x");
  const Term rate = term_of(s, b["rate"], "rate");
  if (!x || !check_tile(s, x, "x") || !rate.ok)
    return {s.poison({1, 1}, Element::float32)};
  return {s.emit_result({.kind = Kind::dropout,
                         .engine = Engine::vector,
                         .sources = {{x->view}, rate.operand},
                         .mask = b.mask()},
                        x->view.shape(), b.element("dtype").value_or(x->element))};
}

Value program_id(Session& s, Bound& b, Op) {
  const std::int64_t axis = integer_of(b["axis"]).value_or(0);
  if (axis < 0 || axis >= static_cast<std::int64_t>(s.options().grid.size())) {
    if (axis == 0 && s.options().grid.empty())
      return {std::int64_t{0}};
    s.report({.code = "NK-program-axis",
              .message = fmt::format("nl.program_id({}) in a launch grid of {} dimensions", axis,
                                     s.options().grid.size()),
              .edit = "launch it as kernel[...](...)"});
    return {std::int64_t{0}};
  }
  return {variable_index(static_cast<Variable>(axis))};
}

Value num_programs(Session& s, Bound& b, Op) {
  const auto& grid = s.options().grid;
  std::int64_t n = 1;
  const std::vector<std::int64_t> axes = b.integers("axes");
  for (std::size_t k = 0; k < grid.size(); ++k)
    if (axes.empty() || std::ranges::find(axes, static_cast<std::int64_t>(k)) != axes.end())
      n *= grid[k];
  return {n};
}

Value program_ndim(Session& s, Bound&, Op) {
  return {static_cast<std::int64_t>(s.options().grid.size())};
}

constexpr std::string_view unary_signature = "x, *, dtype=None, mask=None";
constexpr std::string_view binary_signature = "x, y, *, dtype=None, mask=None";

} // namespace

const std::vector<Call>& language_arithmetic_calls() {
  static const std::vector<Call> calls = [] {
    std::vector<Call> all = {
        {"nl.logical_not", unary_signature, unary_call, Op::logical_not},
        {"nl.mod", "x, y, dtype=None, mask=None", binary_call, Op::mod},
        {"nl.fmod", "x, y, dtype=None, mask=None", binary_call, Op::fmod},
        {"nl.where", "condition, x, y, *, dtype=None, mask=None", where},
        {"nl.transpose", unary_signature, transpose},
        {"nl.matmul", "x, y, *, transpose_x=False, mask=None", matmul},
        {"nl.dropout", "x, rate, *, dtype=None, mask=None", dropout},
        {"nl.program_id", "axis", program_id},
        {"nl.num_programs", "axes=None", num_programs},
        {"nl.program_ndim", "", program_ndim},
        {"nl.all_reduce", "x, op, program_axes, *, dtype=None, mask=None", nullptr},
        {"nl.static_cast", "arr, dtype", nullptr},
        {"nl.finfo", "dtype", nullptr},
        {"nl.gemm_grid", "", nullptr},
        {"nl.gemm_stationary_grid", "", nullptr},
        {"nl.nc", "size", nullptr},
        {"nl.spmd_dim", "size", nullptr},
    };
    static constexpr std::pair<std::string_view, Op> unary[] = {
        {"nl.abs", Op::abs},           {"nl.arctan", Op::arctan},
        {"nl.ceil", Op::ceil},         {"nl.cos", Op::cos},
        {"nl.erf", Op::erf},           {"nl.erf_dx", Op::erf_dx},
        {"nl.exp", Op::exp},           {"nl.floor", Op::floor},
        {"nl.gelu", Op::gelu},         {"nl.gelu_apprx_tanh", Op::gelu_apprx_tanh},
        {"nl.gelu_dx", Op::gelu_dx},   {"nl.invert", Op::invert},
        {"nl.log", Op::log},           {"nl.mish", Op::mish},
        {"nl.negative", Op::negative}, {"nl.reciprocal", Op::reciprocal},
        {"nl.relu", Op::relu},         {"nl.rsqrt", Op::rsqrt},
        {"nl.sigmoid", Op::sigmoid},   {"nl.sign", Op::sign},
        {"nl.silu", Op::silu},         {"nl.silu_dx", Op::silu_dx},
        {"nl.sin", Op::sin},           {"nl.softplus", Op::softplus},
        {"nl.sqrt", Op::sqrt},         {"nl.square", Op::square},
        {"nl.tan", Op::tan},           {"nl.tanh", Op::tanh},
        {"nl.trunc", Op::trunc}};
    for (const auto& [path, op] : unary)
      all.push_back({path, unary_signature, unary_call, op});
    static constexpr std::pair<std::string_view, Op> binary[] = {
        {"nl.add", Op::add},
        {"nl.subtract", Op::subtract},
        {"nl.multiply", Op::multiply},
        {"nl.divide", Op::divide},
        {"nl.power", Op::power},
        {"nl.maximum", Op::maximum},
        {"nl.minimum", Op::minimum},
        {"nl.bitwise_and", Op::bitwise_and},
        {"nl.bitwise_or", Op::bitwise_or},
        {"nl.bitwise_xor", Op::bitwise_xor},
        {"nl.left_shift", Op::left_shift},
        {"nl.right_shift", Op::right_shift},
        {"nl.equal", Op::equal},
        {"nl.not_equal", Op::not_equal},
        {"nl.greater", Op::greater},
        {"nl.greater_equal", Op::greater_equal},
        {"nl.less", Op::less},
        {"nl.less_equal", Op::less_equal},
        {"nl.logical_and", Op::logical_and},
        {"nl.logical_or", Op::logical_or},
        {"nl.logical_xor", Op::logical_xor}};
    for (const auto& [path, op] : binary)
      all.push_back({path, binary_signature, binary_call, op});
    return all;
  }();
  return calls;
}

} // namespace kw::nki
