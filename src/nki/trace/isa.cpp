// SPDX-License-Identifier: Apache-2.0
#include "nki/trace/isa.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {

using Op = Operation;

Value nothing(Session& s, const TensorPtr& like, Element element) {
  return {s.poison(like ? like->view.shape() : std::vector<std::int64_t>{1, 1}, element)};
}

void refuse_psum(Session& s, const TensorPtr& t, std::string_view parameter, Engine engine) {
  if (engine != Engine::gpsimd || !t || t->poison || s.memory(*t) != Memory::psum)
    return;
  s.report(
      {.code = "err_unsupported_memory",
       .message = fmt::format("`{}` of {} is in PSUM, which GpSimdE cannot read", parameter, s.api),
       .edit = "copy it to SBUF: nl.copy(tile)",
       .operands = {{std::string(parameter), t}}});
}

Term broadcast_operand(Session& s, const Value& v, std::string_view parameter,
                       const TensorPtr& data) {
  Term t = term_of(s, v, parameter);
  if (!t.tensor || t.tensor->poison || !data || data->poison)
    return t;
  if (t.tensor->view.free_elements() != 1) {
    s.report(
        {.code = "NK-vector-operand",
         .message = fmt::format("`{}` of {} has the shape [{}], and must be a number or a column",
                                parameter, s.api, fmt::join(t.tensor->view.shape(), ", ")),
         .limit = fmt::format("[{}, 1]", data->view.dims[0].size),
         .edit = "use nisa.tensor_tensor for operands of full shape",
         .operands = {{"data", data}, {std::string(parameter), t.tensor}}});
    t.ok = false;
    return t;
  }
  if (!check_partitions(s, {{"data", data}, {parameter, t.tensor}}, false))
    t.ok = false;
  t.operand = {column(t.tensor->view, data->view.dims.size())};
  return t;
}

bool check_operator(Session& s, Op op, std::string_view parameter, Engine engine) {
  if (op == Op::none)
    return false;
  if (is_unary(op) && op != Op::invert &&
      !has(engine == Engine::none ? Engine::vector : engine, op) && op != Op::rsqrt) {
    s.report({.code = "NK-operator",
              .message = fmt::format("`{}` of {} is {}, which is no operator of this instruction",
                                     parameter, s.api, name(op)),
              .limit = "binary operators of the ALU table, rsqrt, reciprocal, abs, logical_not",
              .edit = "use nisa.activation for activation functions"});
    return false;
  }
  if (engine != Engine::none && !has(engine, op)) {
    s.report({.code = "NK-engine-operator",
              .message = fmt::format("{} does not have {}", name(engine), name(op)),
              .edit = op == Op::power ? "leave out engine=; power runs on GpSimdE"
                      : op == Op::rsqrt
                          ? "use engine=nisa.gpsimd_engine or nisa.activation"
                          : "leave out engine=, the compiler chooses one that has it"});
    return false;
  }
  return true;
}

Engine chosen(Engine wanted, Op op) {
  return wanted != Engine::none               ? wanted
         : op == Op::power || op == Op::rsqrt ? Engine::gpsimd
                                              : Engine::vector;
}

void check_bitvec(Session& s, Op op,
                  std::initializer_list<std::pair<std::string_view, TensorPtr>> tiles) {
  if (!is_bitvec(op))
    return;
  for (const auto& [parameter, t] : tiles)
    if (t && !t->poison && is_floating(t->element))
      s.report({.code = "NK-bitvec-dtype",
                .message = fmt::format("{} works on bit patterns, and `{}` of {} is {}", name(op),
                                       parameter, s.api, name(t->element)),
                .limit = "integer types",
                .edit = "use integer tiles",
                .operands = {{std::string(parameter), t}}});
}

bool check_reduce(Session& s, Op op, std::string_view parameter) {
  if (may_reduce(op))
    return true;
  if (op != Op::none)
    s.report(
        {.code = "NK-reduce-operator",
         .message =
             fmt::format("`{}` of {} is {}, which cannot reduce", parameter, s.api, name(op)),
         .limit = "add, subtract, multiply, maximum, minimum, bitwise and logical and, or, xor",
         .edit = "use one of these"});
  return false;
}

std::optional<View> reduce_result(Session& s, Bound& b, const TensorPtr& data) {
  if (!b.has("reduce_res"))
    return std::nullopt;
  const TensorPtr t = b.tensor("reduce_res");
  if (!t || t->poison || !check_tile(s, t, "reduce_res"))
    return std::nullopt;
  if (t->view.free_elements() != 1 ||
      (data && !data->poison && t->view.dims[0].size != data->view.dims[0].size)) {
    s.report({.code = "NK-reduce-result",
              .message = fmt::format("`reduce_res` of {} has the shape [{}]", s.api,
                                     fmt::join(t->view.shape(), ", ")),
              .limit = fmt::format("[{}, 1]", data && !data->poison ? data->view.dims[0].size : 0),
              .edit = "give it one element per partition of `data`",
              .operands = {{"data", data}, {"reduce_res", t}}});
    return std::nullopt;
  }
  return t->view;
}

} // namespace kw::nki
