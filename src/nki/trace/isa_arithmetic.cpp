// SPDX-License-Identifier: Apache-2.0
// Arithmetic of nki.isa: operators, activations, reductions, scans.
#include "nki/trace/isa.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

using Op = Operation;

Value activate(Session& s, Bound& b, bool reduces_always) {
  const Op op = b.operation("op");
  const TensorPtr data = b.tensor("data");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, element);
  if (op == Op::none || !activation_range(op)) {
    if (op != Op::none)
      s.report({.code = "NK-activation",
                .message = fmt::format("{} is no activation function", name(op)),
                .limit = "the functions of the activation table",
                .edit = "use nl.exp, nl.tanh, nl.gelu, nl.silu, nl.relu, nl.sqrt, nl.rsqrt, "
                        "nl.square, nl.copy ..."});
    return nothing(s, data, element);
  }
  Instruction i{
      .kind = Kind::compute, .engine = Engine::scalar, .sources = {{data->view}}, .mask = b.mask()};
  bool ok = true;
  if (b.has("scale")) {
    const Term scale = term_of(s, b["scale"], "scale");
    if (scale.tensor && !scale.tensor->poison) {
      if (scale.element != Element::float32)
        s.report({.code = "err_activation_scale_invalid_type",
                  .message = fmt::format("`scale` of {} is {}", s.api, name(scale.element)),
                  .limit = "float32",
                  .edit = "make it float32",
                  .operands = {{"scale", scale.tensor}}});
      if (scale.tensor->view.free_elements() != 1 ||
          (!data->poison && scale.tensor->view.dims[0].size != data->view.dims[0].size)) {
        s.report({.code = "err_activation_scale_scalar_or_vector",
                  .message = fmt::format("`scale` of {} has the shape [{}]", s.api,
                                         fmt::join(scale.tensor->view.shape(), ", ")),
                  .limit = data->poison
                               ? ""
                               : fmt::format("a number or [{}, 1]", data->view.dims[0].size),
                  .edit = "multiply by a full tile with nisa.tensor_tensor",
                  .operands = {{"data", data}, {"scale", scale.tensor}}});
        ok = false;
      }
      i.steps.push_back({Op::multiply, {column(scale.tensor->view, data->view.dims.size())}});
    } else if (const double* x = scale.operand.number(); x != nullptr && *x != 1) {
      i.steps.push_back({Op::multiply, {*x}});
    }
    ok = ok && scale.ok;
  }
  if (b.has("bias")) {
    const auto* tensor = b["bias"].get<TensorPtr>();
    if (tensor == nullptr) {
      s.report({.code = "err_activation_bias_invalid_type",
                .message = fmt::format("`bias` of {} is {}", s.api, kind_of(b["bias"])),
                .limit = "a column of float32, float16 or bfloat16",
                .edit = "make one: nisa.memset((P, 1), value, dtype=nl.float32)"});
      ok = false;
    } else {
      const Term bias = broadcast_operand(s, b["bias"], "bias", data);
      if (bias.tensor && !bias.tensor->poison && bias.element != Element::float32 &&
          bias.element != Element::float16 && bias.element != Element::bfloat16)
        s.report({.code = "err_activation_bias_invalid_type",
                  .message = fmt::format("`bias` of {} is {}", s.api, name(bias.element)),
                  .limit = "float32, float16 or bfloat16",
                  .edit = "cast it: nl.copy(bias, dtype=nl.float32)",
                  .operands = {{"bias", bias.tensor}}});
      ok = ok && bias.ok;
      i.steps.push_back({Op::add, bias.operand});
      if (op == Op::reciprocal && s.options().generation == Generation::gen2)
        s.report({.code = "NK-activation",
                  .message = "reciprocal with a bias is not supported on gen2",
                  .edit = "add the bias first"});
    }
  }
  i.steps.push_back({op, {}});
  const Op reduce = b.operation("reduce_op");
  const std::int64_t command = reduces_always ? 3 : b.member("reduce_cmd", 0);
  if (command != 0 || b.has("reduce_res")) {
    if (reduce != Op::none && !check_reduce(s, reduce, "reduce_op"))
      ok = false;
    if (reduce != Op::none && reduce != Op::add && s.options().generation == Generation::gen2) {
      s.report({.code = "NK-reduce-operator",
                .message =
                    fmt::format("{} on gen2 reduces by add alone, and got {}", s.api, name(reduce)),
                .limit = "add",
                .edit = "reduce with nisa.tensor_reduce"});
      ok = false;
    }
    i.reduce = reduce == Op::none ? Op::add : reduce;
    i.reduce_dst = reduce_result(s, b, data);
    i.keep_register = command == 2;
    if (!i.reduce_dst && reduces_always)
      ok = false;
    if (!i.reduce_dst) { // into the registers alone
      const TensorPtr unseen = s.create("", {data->view.dims[0].size, 1}, Element::float32,
                                        Memory::sbuf, 0, std::nullopt, true);
      i.reduce_dst = unseen->view;
    }
  }
  if (!ok || data->poison)
    return nothing(s, data, element);
  return {s.emit_result(std::move(i), data->view.shape(), element)};
}

Value activation(Session& s, Bound& b, Op) {
  return activate(s, b, false);
}

Value activation_reduce(Session& s, Bound& b, Op) {
  return activate(s, b, true);
}

Value tensor_scalar(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, element);
  const Op op0 = b.operation("op0"), op1 = b.operation("op1");
  const Engine wanted = b.engine();
  bool ok = check_operator(s, op0, "op0", wanted == Engine::scalar ? Engine::none : wanted);
  Instruction i{.kind = Kind::compute,
                .engine = chosen(wanted, op0),
                .sources = {{data->view}},
                .mask = b.mask()};
  const Term first = broadcast_operand(s, b["operand0"], "operand0", data);
  ok = ok && first.ok;
  i.steps.push_back({op0, first.operand, b.flag("reverse0")});
  check_bitvec(s, op0, {{"data", data}});
  if (b.has("op1")) {
    ok = check_operator(s, op1, "op1", wanted == Engine::scalar ? Engine::none : wanted) && ok;
    if (!b.has("operand1") && !is_unary(op1)) {
      s.report({.code = "NK-arguments",
                .message = "tensor_scalar got op1 without operand1",
                .edit = "pass both or none"});
      ok = false;
    }
    if (is_bitvec(op0) != is_bitvec(op1)) {
      s.report({.code = "NK-operator-classes",
                .message =
                    fmt::format("op0 is {} and op1 is {}: one works on bits, the other on numbers",
                                name(op0), name(op1)),
                .edit = "use two instructions"});
      ok = false;
    }
    const Term second =
        b.has("operand1") ? broadcast_operand(s, b["operand1"], "operand1", data) : Term{};
    ok = ok && second.ok;
    i.steps.push_back({op1, second.operand, b.flag("reverse1")});
  } else if (b.has("operand1")) {
    s.report({.code = "NK-arguments",
              .message = "tensor_scalar got operand1 without op1",
              .edit = "pass both or none"});
    ok = false;
  }
  if (wanted == Engine::scalar) {
    const bool fits = (op0 == Op::multiply && (op1 == Op::none || op1 == Op::add)) ||
                      (op0 == Op::add && op1 == Op::none);
    if (s.options().generation == Generation::gen2 || !fits) {
      s.report(
          {.code = "NK-engine-operator",
           .message = s.options().generation == Generation::gen2
                          ? "ScalarE has no tensor_scalar on gen2"
                          : fmt::format("ScalarE does not have {} then {}", name(op0), name(op1)),
           .limit = "gen3: multiply and add, multiply, or add",
           .edit = "use nisa.vector_engine or nisa.activation"});
      ok = false;
    }
  }
  refuse_psum(s, data, "data", i.engine);
  if (!ok || data->poison)
    return nothing(s, data, element);
  return {s.emit_result(std::move(i), data->view.shape(), element)};
}

Value tensor_scalar_reduce(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, element);
  const Op op0 = b.operation("op0"), reduce = b.operation("reduce_op");
  bool ok = check_operator(s, op0, "op0", Engine::none) && check_reduce(s, reduce, "reduce_op");
  if (is_bitvec(op0)) {
    s.report({.code = "NK-operator",
              .message = "tensor_scalar_reduce takes arithmetic operators only",
              .edit = "use nisa.tensor_scalar, then nisa.tensor_reduce"});
    ok = false;
  }
  const Term operand = broadcast_operand(s, b["operand0"], "operand0", data);
  const auto result = reduce_result(s, b, data);
  if (!ok || !operand.ok || !result || data->poison)
    return nothing(s, data, element);
  Instruction i{.kind = Kind::compute,
                .engine = Engine::vector,
                .sources = {{data->view}},
                .steps = {{op0, operand.operand, b.flag("reverse0")}},
                .reduce = reduce,
                .reduce_dst = result,
                .mask = b.mask()};
  return {s.emit_result(std::move(i), data->view.shape(), element)};
}

Value tensor_tensor(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("data1"), y = b.tensor("data2");
  const Op op = b.operation("op");
  const Element element =
      b.element("dtype").value_or(x && y ? promote(x->element, y->element) : Element::float32);
  if (!x || !y || !check_tile(s, x, "data1") || !check_tile(s, y, "data2"))
    return nothing(s, x, element);
  const Engine wanted = b.engine();
  bool ok = check_operator(s, op, "op",
                           wanted == Engine::none && op == Op::power ? Engine::gpsimd : wanted);
  ok = check_partitions(s, {{"data1", x}, {"data2", y}}, false) && ok;
  if (!x->poison && !y->poison && x->view.free_elements() != y->view.free_elements()) {
    s.report(
        {.code = "NK-shape-mismatch",
         .message = fmt::format("data1 of nisa.tensor_tensor has the shape [{}], data2 [{}]",
                                fmt::join(x->view.shape(), ", "), fmt::join(y->view.shape(), ", ")),
         .limit = "equal elements per partition",
         .edit = "a column repeats in nisa.tensor_scalar, a row by .broadcast_to((P, F))",
         .operands = {{"data1", x}, {"data2", y}}});
    ok = false;
  }
  check_one_psum(s, "data1", x, "data2", y);
  check_bitvec(s, op, {{"data1", x}, {"data2", y}});
  Instruction i{.kind = Kind::compute,
                .engine = chosen(wanted, op),
                .sources = {{x->view}},
                .steps = {{op, {y->view}}},
                .mask = b.mask()};
  refuse_psum(s, x, "data1", i.engine);
  refuse_psum(s, y, "data2", i.engine);
  i.exact_integers = i.engine == Engine::gpsimd && is_integer(x->element) &&
                     is_integer(y->element) && (op == Op::add || op == Op::multiply);
  if (!ok || x->poison || y->poison)
    return nothing(s, x, element);
  return {s.emit_result(std::move(i), x->view.shape(), element)};
}

Value scalar_tensor_tensor(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data"), other = b.tensor("operand1");
  const Element element = b.element("dtype").value_or(
      data && other ? promote(data->element, other->element) : Element::float32);
  if (!data || !other || !check_tile(s, data, "data") || !check_tile(s, other, "operand1"))
    return nothing(s, data, element);
  const Op op0 = b.operation("op0"), op1 = b.operation("op1");
  bool ok =
      check_operator(s, op0, "op0", Engine::none) && check_operator(s, op1, "op1", Engine::none);
  const Term first = broadcast_operand(s, b["operand0"], "operand0", data);
  check_one_psum(s, "data", data, "operand1", other);
  ok = check_partitions(s, {{"data", data}, {"operand1", other}}, false) && ok && first.ok;
  if (!ok || data->poison || other->poison)
    return nothing(s, data, element);
  return {s.emit_result({.kind = Kind::compute,
                         .engine = Engine::vector,
                         .sources = {{data->view}},
                         .steps = {{op0, first.operand, b.flag("reverse0")},
                                   {op1, {other->view}, b.flag("reverse1")}},
                         .mask = b.mask()},
                        data->view.shape(), element)};
}

Value reciprocal(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, element);
  return {s.emit_result({.kind = Kind::compute,
                         .engine = Engine::vector,
                         .sources = {{data->view}},
                         .steps = {{Op::reciprocal, {}}},
                         .mask = b.mask()},
                        data->view.shape(), element)};
}

Value scan(Session& s, Bound& b, Op) {
  const TensorPtr x = b.tensor("data0"), y = b.tensor("data1");
  const Element element =
      b.element("dtype").value_or(x && y ? promote(x->element, y->element) : Element::float32);
  if (!x || !y || !check_tile(s, x, "data0") || !check_tile(s, y, "data1"))
    return nothing(s, x, element);
  const Op op0 = b.operation("op0"), op1 = b.operation("op1");
  bool ok = true;
  for (const auto& [parameter, op] : {std::pair<std::string_view, Op>{"op0", op0}, {"op1", op1}})
    if (op == Op::none || is_bitvec(op) || is_unary(op)) {
      s.report(
          {.code = "NK-operator",
           .message = fmt::format("`{}` of nisa.tensor_tensor_scan is {}", parameter, name(op)),
           .limit = "binary arithmetic operators",
           .edit = "use nl.add, nl.multiply, nl.maximum ..."});
      ok = false;
    }
  check_one_psum(s, "data0", x, "data1", y);
  ok = check_partitions(s, {{"data0", x}, {"data1", y}}, false) && ok;
  if (!x->poison && !y->poison && x->view.free_elements() != y->view.free_elements()) {
    s.report({.code = "NK-shape-mismatch",
              .message = "data0 and data1 of nisa.tensor_tensor_scan have different sizes",
              .edit = "give both the same shape",
              .operands = {{"data0", x}, {"data1", y}}});
    ok = false;
  }
  const Term initial = broadcast_operand(s, b["initial"], "initial", x);
  if (!ok || !initial.ok || x->poison || y->poison)
    return nothing(s, x, element);
  return {s.emit_result({.kind = Kind::scan,
                         .engine = Engine::vector,
                         .sources = {{x->view}, {y->view}, initial.operand},
                         .steps = {{op0, {}, b.flag("reverse0")}, {op1, {}, b.flag("reverse1")}},
                         .mask = b.mask()},
                        x->view.shape(), element)};
}

Value tensor_reduce(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  const Op op = b.operation("op");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, element);
  const bool ok = check_reduce(s, op, "op");
  check_bitvec(s, op, {{"data", data}});
  const auto rank = static_cast<std::int64_t>(data->view.dims.size());
  std::vector<std::int64_t> axes = b.integers("axis");
  for (std::int64_t& a : axes)
    a = a < 0 ? a + rank : a;
  std::ranges::sort(axes);
  bool right = !axes.empty() && axes[0] > 0;
  for (std::size_t k = 0; k < axes.size(); ++k)
    right = right && axes[k] == rank - static_cast<std::int64_t>(axes.size() - k);
  std::vector<std::int64_t> shape = data->view.shape();
  if (!right) {
    s.report(
        {.code = "NK-reduce-axis",
         .message = fmt::format("nisa.tensor_reduce reduces axes [{}] of a tile of {} dimensions",
                                fmt::join(b.integers("axis"), ", "), rank),
         .limit = "the last free dimensions, without gaps; never the partitions (axis 0)",
         .edit = "transpose first, or multiply by a vector of ones with nisa.nc_matmul",
         .operands = {{"data", data}}});
    return {s.poison({shape[0], 1}, element)};
  }
  const std::size_t n = axes.size();
  shape.resize(shape.size() - n);
  if (b.flag("keepdims"))
    shape.insert(shape.end(), n, 1);
  while (shape.size() < 2)
    shape.push_back(1);
  if (!ok || data->poison)
    return {s.poison(shape, element)};
  return {s.emit_result({.kind = Kind::compute,
                         .engine = Engine::vector,
                         .sources = {{data->view}},
                         .reduce = op,
                         .reduced_dims = static_cast<int>(n),
                         .negate = b.flag("negate"),
                         .mask = b.mask()},
                        shape, element)};
}

Value partition_reduce(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  const Op op = b.operation("op");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, element);
  refuse_psum(s, data, "data", Engine::gpsimd);
  if (op != Op::add && op != Op::maximum && op != Op::bitwise_or && op != Op::bitwise_and) {
    s.report({.code = "NK-reduce-operator",
              .message = fmt::format("nisa.tensor_partition_reduce got {}", name(op)),
              .limit = "add, maximum, bitwise_or, bitwise_and",
              .edit = "transpose and use nisa.tensor_reduce"});
    return nothing(s, data, element);
  }
  std::vector<std::int64_t> shape = data->view.shape();
  shape[0] = 1;
  return {s.emit_result({.kind = Kind::partition_reduce,
                         .engine = Engine::gpsimd,
                         .sources = {{data->view}},
                         .reduce = op,
                         .mask = b.mask()},
                        shape, element)};
}

} // namespace

const std::vector<Call>& isa_arithmetic_calls() {
  static const std::vector<Call> calls = {
      {"nisa.activation",
       "op, data, *, bias=None, scale=None, reduce_op=None, reduce_res=None, reduce_cmd=None, "
       "mask=None, dtype=None",
       activation},
      {"nisa.activation_reduce",
       "op, data, *, reduce_op, reduce_res, bias=None, scale=None, mask=None, dtype=None",
       activation_reduce},
      {"nisa.tensor_scalar",
       "data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, *, "
       "dtype=None, mask=None, engine=None",
       tensor_scalar},
      {"nisa.tensor_scalar_reduce",
       "*, data, op0, operand0, reduce_op, reduce_res, reverse0=False, dtype=None, mask=None",
       tensor_scalar_reduce},
      {"nisa.tensor_tensor", "data1, data2, op, *, dtype=None, mask=None, engine=None",
       tensor_tensor},
      {"nisa.scalar_tensor_tensor",
       "*, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, dtype=None, "
       "mask=None",
       scalar_tensor_tensor},
      {"nisa.reciprocal", "data, *, dtype=None, mask=None", reciprocal},
      {"nisa.tensor_tensor_scan",
       "data0, data1, initial, op0, op1, reverse0=False, reverse1=False, *, dtype=None, mask=None",
       scan},
      {"nisa.tensor_reduce",
       "op, data, axis, *, mask=None, dtype=None, negate=False, keepdims=False", tensor_reduce},
      {"nisa.tensor_partition_reduce", "op, data, *, mask=None, dtype=None", partition_reduce},
  };
  return calls;
}

} // namespace kw::nki
