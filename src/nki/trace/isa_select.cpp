// SPDX-License-Identifier: Apache-2.0
// What nki.isa copies, fills and selects.
#include "nki/trace/isa.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

using Op = Operation;

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

} // namespace

const std::vector<Call>& isa_select_calls() {
  static const std::vector<Call> calls = {
      {"nisa.tensor_copy", "src, *, mask=None, dtype=None, engine=None", tensor_copy},
      {"nisa.tensor_copy_predicated",
       "*, src, dst, predicate, mask=None, dtype=None, reverse_pred=False", copy_predicated},
      {"nisa.memset", "shape, value, dtype, *, mask=None, engine=None", memset},
      {"nisa.iota", "expr, dtype, *, mask=None", iota},
      {"nisa.affine_select", "pred, on_true_tile, on_false_value, *, mask=None, dtype=None",
       affine_select},
      {"nisa.range_select",
       "*, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=None, reduce_res=None, "
       "reduce_op=None, range_start=None, on_false_value=None, mask=None, dtype=None",
       range_select},
      {"nisa.dropout", "data, prob, *, mask=None, dtype=None", dropout},
      {"nisa.nc_stream_shuffle", "src, dst, shuffle_mask, *, dtype=None, mask=None",
       stream_shuffle},
  };
  return calls;
}

} // namespace kw::nki
