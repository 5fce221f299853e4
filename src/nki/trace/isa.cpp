// SPDX-License-Identifier: Apache-2.0
// nki.isa of dialect 0.1: one call, one instruction of the NeuronCore.
// Source: nki.isa reference, Neuron SDK 2.24.
#include "nki/trace/operands.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

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

/// A number, or a column of one element per partition, for a tile of `rank` dimensions.
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

/// An operator that the engine has; reported otherwise.
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

/// `reduce_res` of an instruction: one element a partition.
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

Value tensor_copy(Session& s, Bound& b, Op) {
  const TensorPtr src = b.tensor("src");
  const Element element = b.element("dtype").value_or(src ? src->element : Element::float32);
  if (!src || !check_tile(s, src, "src"))
    return nothing(s, src, element);
  const Engine engine = b.engine();
  refuse_psum(s, src, "src", engine);
  return {s.emit_result({.kind = Kind::compute,
                         .engine = engine == Engine::none ? Engine::vector : engine,
                         .sources = {{src->view}},
                         .mask = b.mask()},
                        src->view.shape(), element)};
}

Value copy_predicated(Session& s, Bound& b, Op) {
  const TensorPtr dst = b.tensor("dst"), predicate = b.tensor("predicate");
  const Term src = term_of(s, b["src"], "src");
  if (!dst || !predicate || !src.ok || !check_tile(s, dst, "dst") ||
      !check_tile(s, predicate, "predicate"))
    return {None{}};
  if (predicate->element != Element::uint8 && predicate->element != Element::uint16 &&
      predicate->element != Element::uint32)
    s.report({.code = "NK-dtype",
              .message = fmt::format("`predicate` of {} is {}", s.api, name(predicate->element)),
              .limit = "uint8, uint16, uint32",
              .edit = "compare with dtype=nl.uint8",
              .operands = {{"predicate", predicate}}});
  if (src.tensor && src.element != dst->element)
    s.report(
        {.code = "NK-dtype",
         .message = fmt::format("{} copies {} to {}", s.api, name(src.element), name(dst->element)),
         .limit = "equal types",
         .edit = "cast one first",
         .operands = {{"src", src.tensor}, {"dst", dst}}});
  check_one_psum(s, "src", src.tensor, "predicate", predicate);
  if (check_partitions(s, {{"dst", dst}, {"src", src.tensor}, {"predicate", predicate}}, false))
    s.emit({.kind = Kind::copy_where,
            .engine = Engine::vector,
            .dst = dst->view,
            .sources = {{predicate->view}, src.operand},
            .numbers = {b.flag("reverse_pred") ? 1 : 0},
            .mask = b.mask()});
  return {None{}};
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

Value memset(Session& s, Bound& b, Op) {
  const std::vector<std::int64_t> shape = b.integers("shape");
  const Element element = b.element("dtype").value_or(Element::float32);
  const auto value = number_of(b["value"]);
  if (shape.size() < 2 || !value) {
    s.report({.code = "NK-arguments",
              .message = shape.size() < 2
                             ? "nisa.memset needs a shape of two dimensions or more"
                             : fmt::format("`value` of nisa.memset is {}", kind_of(b["value"])),
              .edit = "nisa.memset((128, 512), 0, dtype=nl.float32)"});
    return {s.poison({1, 1}, element)};
  }
  if (shape[0] > s.core().partitions) {
    s.report({.code = "err_num_partition_exceed_arch_limit",
              .message = fmt::format("nisa.memset makes {} partitions", shape[0]),
              .limit = fmt::format("{} partitions", s.core().partitions),
              .edit = "tile the first dimension"});
    return {s.poison(shape, element)};
  }
  const Engine engine = b.engine();
  return {s.emit_result({.kind = Kind::compute,
                         .engine = engine == Engine::none ? Engine::vector : engine,
                         .sources = {{*value}},
                         .mask = b.mask()},
                        shape, element)};
}

Value iota(Session& s, Bound& b, Op) {
  const auto expression = index_of(b["expr"]);
  const Element element = b.element("dtype").value_or(Element::int32);
  if (!expression) {
    s.report({.code = "NK-argument-type",
              .message = fmt::format("`expr` of nisa.iota is {}", kind_of(b["expr"])),
              .edit = "pass an affine expression of nl.arange"});
    return {s.poison({1, 1}, element)};
  }
  std::vector<std::int64_t> shape;
  for (const Index::Dim& d : expression->dims)
    shape.push_back(d.size);
  if (shape.size() == 1) {
    s.report({.code = "err_1d_arange_not_supported",
              .message = "`expr` of nisa.iota has one axis",
              .edit = "give it a second one: nl.arange(n)[None, :]"});
    return {s.poison({1, shape[0]}, element)};
  }
  while (shape.size() < 2)
    shape.push_back(1);
  return {s.emit_result({.kind = Kind::iota,
                         .engine = Engine::gpsimd,
                         .expression = with_rank(*expression, 2),
                         .mask = b.mask()},
                        shape, element)};
}

Value affine_select(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("on_true_tile");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  const auto* predicate = b["pred"].get<Mask>();
  const auto value = number_of(b["on_false_value"]);
  if (!data || !check_tile(s, data, "on_true_tile"))
    return nothing(s, data, element);
  if (predicate == nullptr || predicate->conditions.size() != 1) {
    s.report({.code = "NK-affine-predicate",
              .message = predicate == nullptr
                             ? fmt::format("`pred` of nisa.affine_select is {}", kind_of(b["pred"]))
                             : "`pred` of nisa.affine_select joins several conditions",
              .limit = "one affine comparison",
              .edit = "use nl.where for other predicates"});
    return nothing(s, data, element);
  }
  if (!value) {
    s.report({.code = "NK-argument-type",
              .message = fmt::format("`on_false_value` is {}", kind_of(b["on_false_value"])),
              .limit = "a float32 number",
              .edit = "pass a number"});
    return nothing(s, data, element);
  }
  if (data->element == Element::int32 || data->element == Element::uint32)
    s.report({.code = "NK-dtype",
              .message = fmt::format("nisa.affine_select got {}", name(data->element)),
              .limit = "floats, 8- and 16-bit integers",
              .edit = "cast to float32",
              .operands = {{"on_true_tile", data}}});
  refuse_psum(s, data, "on_true_tile", Engine::gpsimd);
  return {s.emit_result({.kind = Kind::affine_select,
                         .engine = Engine::gpsimd,
                         .sources = {{data->view}, {*value}},
                         .expression = predicate->conditions[0],
                         .mask = b.mask()},
                        data->view.shape(), element)};
}

Value range_select(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("on_true_tile"), low = b.tensor("bound0"),
                  high = b.tensor("bound1");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  if (!data || !low || !high || !check_tile(s, data, "on_true_tile"))
    return nothing(s, data, element);
  bool ok = true;
  const auto compare = [&](std::string_view parameter) {
    const Op op = b.operation(parameter);
    if (op != Op::equal && op != Op::less && op != Op::less_equal && op != Op::greater &&
        op != Op::greater_equal) {
      s.report({.code = "NK-operator",
                .message = fmt::format("`{}` of nisa.range_select is {}", parameter, name(op)),
                .limit = "equal, less, less_equal, greater, greater_equal",
                .edit = "use one of these"});
      ok = false;
    }
    return op;
  };
  Instruction i{.kind = Kind::range_select, .engine = Engine::vector, .mask = b.mask()};
  i.compare = {compare("comp_op0"), compare("comp_op1")};
  for (const auto& [parameter, t] :
       {std::pair<std::string_view, TensorPtr>{"bound0", low}, {"bound1", high}})
    if (!t->poison && (t->element != Element::float32 || t->view.free_elements() != 1)) {
      s.report({.code = "NK-range-bound",
                .message = fmt::format("`{}` of nisa.range_select is {} of shape [{}]", parameter,
                                       name(t->element), fmt::join(t->view.shape(), ", ")),
                .limit = "float32 [P, 1]",
                .edit = "make it float32 with one element per partition",
                .operands = {{std::string(parameter), t}}});
      ok = false;
    }
  if (!is_floating(data->element)) {
    s.report({.code = "NK-dtype",
              .message = fmt::format("nisa.range_select got {}", name(data->element)),
              .limit = "floating-point types",
              .edit = "cast it",
              .operands = {{"on_true_tile", data}}});
    ok = false;
  }
  constexpr double lowest = -0x1.fffffep127;
  const double other =
      b.has("on_false_value") ? number_of(b["on_false_value"]).value_or(lowest) : lowest;
  if (other != lowest)
    s.report({.code = "NK-range-value",
              .message = "`on_false_value` of nisa.range_select is not the least float32",
              .limit = "nl.fp32.min",
              .edit = "leave it out"});
  const std::int64_t start = integer_of(b["range_start"]).value_or(0);
  if (start + data->view.free_elements() >= 1 << 24)
    s.report({.code = "NK-range-start",
              .message = "range_start and the free size exceed what float32 counts exactly",
              .limit = "2^24",
              .edit = "begin lower"});
  ok =
      check_partitions(s, {{"on_true_tile", data}, {"bound0", low}, {"bound1", high}}, false) && ok;
  if (!ok || data->poison || low->poison || high->poison)
    return nothing(s, data, element);
  const std::size_t rank = data->view.dims.size();
  i.sources = {{data->view}, {column(low->view, rank)}, {column(high->view, rank)}, {other}};
  i.expression = constant_index(start);
  i.reduce_dst = reduce_result(s, b, data);
  i.keep_register = b.member("reduce_cmd", 0) == 2;
  return {s.emit_result(std::move(i), data->view.shape(), element)};
}

Value nc_matmul(Session& s, Bound& b, Op) {
  const TensorPtr stationary = b.tensor("stationary"), moving = b.tensor("moving");
  if (!stationary || !moving || !check_tile(s, stationary, "stationary") ||
      !check_tile(s, moving, "moving"))
    return {s.poison({1, 1}, Element::float32)};
  const std::vector<std::int64_t> position = b.integers("tile_position"),
                                  size = b.integers("tile_size");
  if (position.empty() != size.empty())
    s.report({.code = "NK-pe-tile",
              .message = "nisa.nc_matmul got only one of tile_position and tile_size",
              .edit = "pass both or none"});
  if (position.size() == 2 && size.size() == 2) {
    const bool grid =
        std::ranges::all_of(position, [](std::int64_t x) { return x % 32 == 0; }) &&
        std::ranges::all_of(size, [](std::int64_t x) { return x % 32 == 0 && x > 0; });
    if (!grid || (s.options().generation == Generation::gen2 && size[0] == 32 && size[1] == 32) ||
        position[0] % size[0] != 0 || position[1] % size[1] != 0)
      s.report(
          {.code = "NK-pe-tile",
           .message = fmt::format("tile_position ({}) and tile_size ({}) do not fit the PE array",
                                  fmt::join(position, ", "), fmt::join(size, ", ")),
           .limit = "multiples of 32, the position a multiple of the size; not 32 x 32 on gen2",
           .edit = "choose sizes 32, 64 or 128"});
    else if (!stationary->poison && (stationary->view.dims[0].size > size[0] ||
                                     stationary->view.free_elements() > size[1]))
      s.report({.code = "NK-pe-tile",
                .message = "the stationary tile is larger than tile_size",
                .edit = "make tile_size at least as large",
                .operands = {{"stationary", stationary}}});
  }
  return s.product(stationary, moving, b.mask(),
                   {.transposes = b.flag("is_transpose"),
                    .one_zero = b.flag("is_stationary_onezero") || b.flag("is_moving_onezero")});
}

Value nc_transpose(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, Element::float32);
  return s.transposed(data, b.element("dtype").value_or(data->element), b.mask(), b.engine());
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

Value bn_stats(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, Element::float32);
  if (data->view.free_elements() > s.core().bn_stats_free)
    s.report({.code = "err_size_of_dimension_exceed_arch_limit",
              .message = fmt::format("nisa.bn_stats got {} elements per partition",
                                     data->view.free_elements()),
              .limit = fmt::format("{} (nl.tile_size.bn_stats_fmax)", s.core().bn_stats_free),
              .edit = "take statistics of pieces, and join them with nisa.bn_aggr",
              .operands = {{"data", data}}});
  return {s.emit_result({.kind = Kind::bn_stats,
                         .engine = Engine::vector,
                         .sources = {{data->view}},
                         .mask = b.mask()},
                        {data->view.dims[0].size, 6}, b.element("dtype").value_or(data->element))};
}
Value bn_aggr(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, Element::float32);
  if (data->view.free_elements() % 3 != 0)
    s.report({.code = "NK-bn-aggr",
              .message = fmt::format("nisa.bn_aggr got {} elements per partition",
                                     data->view.free_elements()),
              .limit = "a multiple of 3",
              .edit = "pass results of nisa.bn_stats",
              .operands = {{"data", data}}});
  return {s.emit_result({.kind = Kind::bn_aggr,
                         .engine = Engine::vector,
                         .sources = {{data->view}},
                         .mask = b.mask()},
                        {data->view.dims[0].size, 2}, b.element("dtype").value_or(data->element))};
}

void check_search_size(Session& s, const TensorPtr& t) {
  const std::int64_t n = t->view.free_elements();
  if (!t->poison && (n < 8 || n > 16384))
    s.report({.code = "err_size_of_dimension_exceed_arch_limit",
              .message = fmt::format("{} got {} elements per partition", s.api, n),
              .limit = "8 to 16384",
              .edit = "work on pieces",
              .operands = {{"data", t}}});
}
bool check_eight(Session& s, const TensorPtr& t) {
  if (t->poison || t->view.free_elements() == 8)
    return true;
  s.report({.code = "NK-eight-values",
            .message = fmt::format("`vals` of {} has {} elements per partition", s.api,
                                   t->view.free_elements()),
            .limit = "8",
            .edit = "pass a result of nisa.max8",
            .operands = {{"vals", t}}});
  return false;
}

Value max8(Session& s, Bound& b, Op) {
  const TensorPtr src = b.tensor("src");
  if (!src || !check_tile(s, src, "src"))
    return nothing(s, src, Element::float32);
  check_search_size(s, src);
  return {s.emit_result(
      {.kind = Kind::max8, .engine = Engine::vector, .sources = {{src->view}}, .mask = b.mask()},
      {src->view.dims[0].size, 8}, b.element("dtype").value_or(src->element))};
}
Value find_index8(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data"), vals = b.tensor("vals");
  const Element element = b.element("dtype").value_or(Element::uint32);
  if (!data || !vals || !check_tile(s, data, "data") || !check_tile(s, vals, "vals"))
    return nothing(s, vals, element);
  check_search_size(s, data);
  if (!check_eight(s, vals) || !check_partitions(s, {{"data", data}, {"vals", vals}}, false))
    return {s.poison({data->view.dims[0].size, 8}, element)};
  return {s.emit_result({.kind = Kind::find_index8,
                         .engine = Engine::vector,
                         .sources = {{data->view}, {vals->view}},
                         .mask = b.mask()},
                        {data->view.dims[0].size, 8}, element)};
}
Value match_replace8(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data"), vals = b.tensor("vals");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  const auto by = number_of(b["imm"]);
  if (!data || !vals || !by || !check_tile(s, data, "data") || !check_tile(s, vals, "vals"))
    return nothing(s, data, element);
  check_search_size(s, data);
  if (!check_eight(s, vals) || !check_partitions(s, {{"data", data}, {"vals", vals}}, false))
    return nothing(s, data, element);
  Instruction i{.kind = Kind::match_replace8,
                .engine = Engine::vector,
                .sources = {{data->view}, {vals->view}, {*by}},
                .mask = b.mask()};
  if (b.has("dst_idx"))
    if (const TensorPtr t = b.tensor("dst_idx"); t && !t->poison)
      i.reduce_dst = t->view;
  return {s.emit_result(std::move(i), data->view.shape(), element)};
}

Value local_gather(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("src_buffer"), index = b.tensor("index");
  if (!data || !index || !check_tile(s, data, "src_buffer") || !check_tile(s, index, "index"))
    return nothing(s, data, Element::float32);
  const std::int64_t width =
      b.has("num_elem_per_idx") ? integer_of(b["num_elem_per_idx"]).value_or(1) : 1;
  const std::int64_t all = index->view.free_elements() * 16,
                     valid = b.has("num_valid_indices")
                                 ? integer_of(b["num_valid_indices"]).value_or(all)
                                 : all;
  bool ok = check_partitions(s, {{"src_buffer", data}, {"index", index}}, false);
  const auto refuse = [&](std::string message, std::string limit) {
    s.report({.code = "NK-local-gather",
              .message = std::move(message),
              .limit = std::move(limit),
              .edit = "see the constraints of nisa.local_gather",
              .operands = {{"src_buffer", data}, {"index", index}}});
    ok = false;
  };
  if (data->view.dims[0].size % 16 != 0)
    refuse(fmt::format("nisa.local_gather works on {} partitions", data->view.dims[0].size),
           "a multiple of 16");
  if (index->element != Element::uint16)
    refuse(fmt::format("the indices of nisa.local_gather are {}", name(index->element)), "uint16");
  if (width != 1 && width != 2 && width != 4 && width != 8 && width != 16 && width != 32)
    refuse(fmt::format("num_elem_per_idx is {}", width), "1, 2, 4, 8, 16 or 32");
  if (valid > 4096 || valid > all)
    refuse(fmt::format("nisa.local_gather got {} indices per core", valid),
           fmt::format("{}", std::min<std::int64_t>(all, 4096)));
  if (!ok || data->poison || index->poison)
    return nothing(s, data, data->element);
  return {s.emit_result({.kind = Kind::local_gather,
                         .engine = Engine::gpsimd,
                         .sources = {{data->view}, {index->view}},
                         .numbers = {width, valid},
                         .mask = b.mask()},
                        {data->view.dims[0].size, valid * width}, data->element)};
}

Value stream_shuffle(Session& s, Bound& b, Op) {
  const TensorPtr src = b.tensor("src"), dst = b.tensor("dst");
  const std::vector<std::int64_t> mask = b.integers("shuffle_mask");
  if (!src || !dst || !check_tile(s, src, "src") || !check_tile(s, dst, "dst"))
    return {None{}};
  if (mask.size() != 32 ||
      !std::ranges::all_of(mask, [](std::int64_t x) { return (x >= 0 && x < 32) || x == 255; })) {
    s.report({.code = "NK-shuffle-mask",
              .message = fmt::format("`shuffle_mask` has {} entries", mask.size()),
              .limit = "32 entries of 0 to 31, or 255 for partitions that stay",
              .edit = "give one entry per partition of a quadrant"});
    return {None{}};
  }
  if (src->element != dst->element)
    s.report(
        {.code = "NK-dtype",
         .message = fmt::format("{} moves {} to {}", s.api, name(src->element), name(dst->element)),
         .limit = "equal types",
         .edit = "cast first",
         .operands = {{"src", src}, {"dst", dst}}});
  s.emit({.kind = Kind::shuffle,
          .engine = Engine::vector,
          .dst = dst->view,
          .sources = {{src->view}},
          .numbers = mask,
          .mask = b.mask()});
  return {None{}};
}

Value dropout(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  const Element element = b.element("dtype").value_or(data ? data->element : Element::float32);
  if (!data || !check_tile(s, data, "data"))
    return nothing(s, data, element);
  const Term p = broadcast_operand(s, b["prob"], "prob", data);
  if (is_integer(data->element) && element != data->element)
    s.report(
        {.code = "NK-dtype",
         .message = fmt::format("nisa.dropout of {} gives {}", name(data->element), name(element)),
         .limit = "integers stay what they are",
         .edit = "leave out dtype",
         .operands = {{"data", data}}});
  if (is_integer(data->element) && p.element != Element::float32)
    s.report({.code = "NK-dtype",
              .message =
                  fmt::format("`prob` of nisa.dropout is {} beside integer data", name(p.element)),
              .limit = "float32",
              .edit = "make it float32"});
  if (!p.ok || data->poison)
    return nothing(s, data, element);
  return {s.emit_result({.kind = Kind::dropout,
                         .engine = Engine::vector,
                         .sources = {{data->view}, p.operand},
                         .mask = b.mask()},
                        data->view.shape(), element)};
}

Value dma_copy(Session& s, Bound& b, Op) {
  const TensorPtr dst = b.tensor("dst"), src = b.tensor("src");
  if (!dst || !src || dst->poison || src->poison)
    return {None{}};
  const Buffer& target = s.buffer(*dst);
  if (target.parameter && !target.writable) {
    s.report({.code = "err_cannot_update_immutable_parameter",
              .message = fmt::format("`{}` is a parameter of the kernel and may not be written",
                                     target.name),
              .edit = "write to a tensor of your own",
              .operands = {{"dst", dst}}});
    return {None{}};
  }
  if (dst->view.elements() != src->view.elements()) {
    s.report({.code = "NK-dma-elements",
              .message = fmt::format("nisa.dma_copy moves {} elements to {}", src->view.elements(),
                                     dst->view.elements()),
              .limit = "equal numbers",
              .edit = "give both the same shape",
              .operands = {{"dst", dst}, {"src", src}}});
    return {None{}};
  }
  if (dst->view.shape() != src->view.shape()) {
    s.report({.code = "NK-dma-elements",
              .message = fmt::format("nisa.dma_copy moves [{}] to [{}]",
                                     fmt::join(src->view.shape(), ", "),
                                     fmt::join(dst->view.shape(), ", ")),
              .limit = "equal shapes",
              .edit = "give both the same shape",
              .operands = {{"dst", dst}, {"src", src}}});
    return {None{}};
  }
  const Op rmw = b.operation("dst_rmw_op");
  if (rmw != Op::none && rmw != Op::add)
    s.report({.code = "NK-operator",
              .message = fmt::format("`dst_rmw_op` is {}", name(rmw)),
              .limit = "add",
              .edit = "use np.add"});
  Instruction i{.kind = rmw == Op::none ? Kind::compute : Kind::dma_accumulate,
                .engine = Engine::dma,
                .dst = dst->view,
                .sources = {{src->view}},
                .accumulate = rmw != Op::none,
                .skip_out_of_bounds = b.member("oob_mode", 0) == 1,
                .mask = b.mask()};
  s.emit(std::move(i));
  return {None{}};
}

Value dma_transpose(Session& s, Bound& b, Op) {
  const TensorPtr src = b.tensor("src");
  const Element element = b.element("dtype").value_or(src ? src->element : Element::float32);
  if (!src || src->poison)
    return nothing(s, src, element);
  const std::vector<std::int64_t> shape = src->view.shape();
  std::vector<std::int64_t> order;
  if (shape.size() == 2)
    order = {1, 0};
  else if (shape.size() == 3)
    order = {2, 1, 0};
  else if (shape.size() == 4)
    order = {3, 1, 2, 0};
  else {
    s.report({.code = "err_exceed_max_supported_dimension",
              .message = fmt::format("nisa.dma_transpose got {} dimensions", shape.size()),
              .limit = "2, 3 or 4 dimensions",
              .edit = "index it down",
              .operands = {{"src", src}}});
    return nothing(s, src, element);
  }
  std::vector<std::int64_t> out;
  for (const std::int64_t j : order)
    out.push_back(shape[static_cast<std::size_t>(j)]);
  if (out[0] > s.core().partitions) {
    s.report({.code = "err_num_partition_exceed_arch_limit",
              .message = fmt::format("nisa.dma_transpose makes {} partitions", out[0]),
              .limit = fmt::format("{} partitions", s.core().partitions),
              .edit = "transpose pieces",
              .operands = {{"src", src}}});
    return {s.poison(out, element)};
  }
  return {s.emit_result({.kind = Kind::transpose,
                         .engine = Engine::dma,
                         .sources = {{src->view}},
                         .numbers = order,
                         .mask = b.mask()},
                        out, element)};
}

Value nc_version(Session& s, Bound&, Op) {
  return {Member{.enumeration = "nc_version",
                 .name = std::string(name(s.options().generation)),
                 .value = s.options().generation == Generation::gen2 ? 2 : 3}};
}

} // namespace

const std::vector<Call>& isa_calls() {
  static const std::vector<Call> calls = {
      {"nisa.activation",
       "op, data, *, bias=None, scale=None, reduce_op=None, reduce_res=None, reduce_cmd=None, "
       "mask=None, dtype=None",
       activation},
      {"nisa.activation_reduce",
       "op, data, *, reduce_op, reduce_res, bias=None, scale=None, mask=None, dtype=None",
       activation_reduce},
      {"nisa.affine_select", "pred, on_true_tile, on_false_value, *, mask=None, dtype=None",
       affine_select},
      {"nisa.bn_aggr", "data, *, mask=None, dtype=None", bn_aggr},
      {"nisa.bn_stats", "data, *, mask=None, dtype=None", bn_stats},
      {"nisa.builtin_custom_op",
       "function_name, lib_file_name, ulib_to_ucode_version, ulib_to_isa_version, srcs, dsts",
       nullptr},
      {"nisa.dma_copy", "*, dst, src, mask=None, dst_rmw_op=None, oob_mode=None, dge_mode=None",
       dma_copy},
      {"nisa.dma_transpose", "src, *, mask=None, dtype=None", dma_transpose},
      {"nisa.dropout", "data, prob, *, mask=None, dtype=None", dropout},
      {"nisa.get_nc_version", "", nc_version},
      {"nisa.iota", "expr, dtype, *, mask=None", iota},
      {"nisa.local_gather",
       "src_buffer, index, num_elem_per_idx=None, num_valid_indices=None, *, mask=None",
       local_gather},
      {"nisa.max8", "*, src, mask=None, dtype=None", max8},
      {"nisa.memset", "shape, value, dtype, *, mask=None, engine=None", memset},
      {"nisa.nc_find_index8", "*, data, vals, mask=None, dtype=None", find_index8},
      {"nisa.nc_match_replace8", "*, data, vals, imm, dst_idx=None, mask=None, dtype=None",
       match_replace8},
      {"nisa.nc_matmul",
       "stationary, moving, *, is_stationary_onezero=False, is_moving_onezero=False, "
       "is_transpose=False, tile_position=None, tile_size=None, mask=None",
       nc_matmul},
      {"nisa.nc_stream_shuffle", "src, dst, shuffle_mask, *, dtype=None, mask=None",
       stream_shuffle},
      {"nisa.nc_transpose", "data, *, mask=None, dtype=None, engine=None", nc_transpose},
      {"nisa.range_select",
       "*, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=None, reduce_res=None, "
       "reduce_op=None, range_start=None, on_false_value=None, mask=None, dtype=None",
       range_select},
      {"nisa.reciprocal", "data, *, dtype=None, mask=None", reciprocal},
      {"nisa.scalar_tensor_tensor",
       "*, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, dtype=None, "
       "mask=None",
       scalar_tensor_tensor},
      {"nisa.tensor_copy", "src, *, mask=None, dtype=None, engine=None", tensor_copy},
      {"nisa.tensor_copy_dynamic_dst", "*, dst, src, mask=None, dtype=None, engine=None", nullptr},
      {"nisa.tensor_copy_dynamic_src", "src, *, mask=None, dtype=None, engine=None", nullptr},
      {"nisa.tensor_copy_predicated",
       "*, src, dst, predicate, mask=None, dtype=None, reverse_pred=False", copy_predicated},
      {"nisa.tensor_partition_reduce", "op, data, *, mask=None, dtype=None", partition_reduce},
      {"nisa.tensor_reduce",
       "op, data, axis, *, mask=None, dtype=None, negate=False, keepdims=False", tensor_reduce},
      {"nisa.tensor_scalar",
       "data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, *, "
       "dtype=None, mask=None, engine=None",
       tensor_scalar},
      {"nisa.tensor_scalar_reduce",
       "*, data, op0, operand0, reduce_op, reduce_res, reverse0=False, dtype=None, mask=None",
       tensor_scalar_reduce},
      {"nisa.tensor_tensor", "data1, data2, op, *, dtype=None, mask=None, engine=None",
       tensor_tensor},
      {"nisa.tensor_tensor_scan",
       "data0, data1, initial, op0, op1, reverse0=False, reverse1=False, *, dtype=None, mask=None",
       scan},
  };
  return calls;
}

} // namespace kw::nki
