// SPDX-License-Identifier: Apache-2.0
// nki.language of dialect 0.1: creation, data movement, arithmetic, reductions, products.
// Source: nki.language reference, Neuron SDK 2.24.
#include "nki/trace/operands.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

using Op = Operation;

// Tensors

struct Shape {
  std::vector<std::int64_t> sizes;
  int partition_axis = 0;
};

std::optional<Shape> shape_of(Session& s, const Bound& b, Memory memory) {
  const Value& v = b["shape"];
  Shape out;
  bool marked = false;
  Values one;
  const Values* list = v.list();
  if (list == nullptr) {
    one = {v};
    list = &one;
  }
  for (std::size_t k = 0; k < list->size(); ++k) {
    if (const auto* p = (*list)[k].get<PartitionSize>()) {
      out.partition_axis = static_cast<int>(k);
      marked = true;
      out.sizes.push_back(p->size);
    } else if (const auto i = integer_of((*list)[k])) {
      out.sizes.push_back(*i);
    } else {
      s.report({.code = "NK-shape",
                .message =
                    fmt::format("axis {} of the shape of {} is {}", k, s.api, kind_of((*list)[k])),
                .edit = "shapes are integers known before the run"});
      return std::nullopt;
    }
  }
  for (const std::int64_t size : out.sizes)
    if (size <= 0) {
      s.report({.code = "NK-shape",
                .message = fmt::format("{} makes a tensor of shape [{}]", s.api,
                                       fmt::join(out.sizes, ", ")),
                .edit = "sizes are positive"});
      return std::nullopt;
    }
  if (!on_chip(memory))
    return out;
  if (out.sizes.size() < 2) {
    s.report(
        {.code = "NK-insufficient-rank",
         .message = fmt::format("{} makes a tensor of shape [{}] on chip, where there are "
                                "partitions and free elements",
                                s.api, fmt::join(out.sizes, ", ")),
         .limit = "2 dimensions or more",
         .edit = fmt::format("use (nl.par_dim({}), 1)", out.sizes.empty() ? 1 : out.sizes[0])});
    out.sizes.resize(2, 1);
  }
  const std::int64_t partitions = out.sizes[static_cast<std::size_t>(out.partition_axis)];
  if (partitions > s.core().partitions) {
    s.report(
        {.code = "err_num_partition_exceed_arch_limit",
         .message = fmt::format("{} makes a tensor of shape [{}] with {} partitions", s.api,
                                fmt::join(out.sizes, ", "), partitions),
         .limit = fmt::format("{} partitions", s.core().partitions),
         .edit =
             marked ? "make the partition dimension 128 or less and add a block dimension before it"
                    : "tile the first dimension by nl.tile_size.pmax, or mark another one with "
                      "nl.par_dim"});
    return std::nullopt;
  }
  return out;
}

Value make(Session& s, Bound& b, std::optional<double> fill) {
  const auto* given = b["buffer"].get<Memory>();
  const Memory memory = given != nullptr ? *given : Memory::sbuf;
  const auto shape = shape_of(s, b, memory);
  const Element element = b.element("dtype").value_or(Element::float32);
  if (!shape)
    return {s.poison(b.integers("shape").empty() ? std::vector<std::int64_t>{1, 1}
                                                 : b.integers("shape"),
                     element)};
  if (fill && !on_chip(memory)) {
    s.report({.code = "err_hbm_tensor_with_init_value_not_supported",
              .message = fmt::format("{} creates a tensor in {} with a value", s.api, name(memory)),
              .edit = "create it with nl.ndarray and fill it with nl.store"});
    fill = std::nullopt;
  }
  if (memory == Memory::shared_hbm && s.in_loop())
    s.report({.code = "err_shared_hbm_must_in_kernel_level",
              .message = "a shared_hbm tensor is created inside a loop",
              .edit = "create it at the top of the kernel"});
  if (memory == Memory::psum) {
    std::int64_t bytes = static_cast<std::int64_t>(bytes_of(element));
    for (std::size_t k = static_cast<std::size_t>(shape->partition_axis) + 1;
         k < shape->sizes.size(); ++k)
      bytes *= shape->sizes[k];
    if (bytes > s.core().psum_bank_bytes * s.core().psum_banks)
      s.report(
          {.code = "NK-psum-tile",
           .message = fmt::format("{} makes a PSUM tile of {} bytes per partition", s.api, bytes),
           .limit = fmt::format("{} bytes, {} banks of {}",
                                s.core().psum_bank_bytes * s.core().psum_banks, s.core().psum_banks,
                                s.core().psum_bank_bytes),
           .edit = "make the free size 512 float32 elements (one bank) at most"});
  }
  return {s.create("", shape->sizes, element, memory, shape->partition_axis, fill, false)};
}

Value ndarray(Session& s, Bound& b, Op) {
  return make(s, b, std::nullopt);
}
Value zeros(Session& s, Bound& b, Op) {
  return make(s, b, 0.0);
}
Value ones(Session& s, Bound& b, Op) {
  return make(s, b, 1.0);
}
Value full(Session& s, Bound& b, Op) {
  return make(s, b, number_of(b["fill_value"]).value_or(0));
}
Value like(Session& s, Bound& b, Op op) {
  const TensorPtr a = b.tensor("a");
  if (!a)
    return {s.poison({1, 1}, Element::float32)};
  const Memory memory =
      b["buffer"].get<Memory>() != nullptr ? *b["buffer"].get<Memory>() : s.memory(*a);
  const std::optional<double> fill =
      op == Op::subtract ? std::optional(0.0) : std::nullopt; // zeros_like
  return {s.create("", a->view.shape(), b.element("dtype").value_or(a->element), memory, 0, fill,
                   false)};
}

Value shared_constant(Session& s, Bound& b, Op) {
  const auto* data = b["constant"].get<HostArray>();
  if (data == nullptr) {
    s.report(
        {.code = "NK-argument-type",
         .message = fmt::format("`constant` of nl.shared_constant is {}", kind_of(b["constant"])),
         .edit = "pass a NumPy array"});
    return {s.poison({1, 1}, Element::float32)};
  }
  return {s.constant(*data, b.element("dtype").value_or(data->element))};
}
Value identity_matrix(Session& s, Bound& b, Op) {
  const std::int64_t n = integer_of(b["n"]).value_or(1);
  HostArray data{
      .element = b.element("dtype").value_or(Element::uint8), .shape = {n, n}, .bytes = {}};
  data.bytes.resize(static_cast<std::size_t>(n * n) * bytes_of(data.element));
  const float one = 1;
  for (std::int64_t i = 0; i < n; ++i)
    store_floats(data.element, &one,
                 data.bytes.data() + static_cast<std::size_t>(i * (n + 1)) * bytes_of(data.element),
                 1, 1);
  return {s.constant(data, data.element)};
}

// Data movement

bool check_mutable(Session& s, const TensorPtr& t) {
  const Buffer& b = s.buffer(*t);
  if (!b.parameter || b.writable)
    return true;
  s.report(
      {.code = "err_cannot_update_immutable_parameter",
       .message = fmt::format("`{}` is a parameter of the kernel and may not be written", b.name),
       .edit = "write to a tensor of your own: nl.ndarray(..., buffer=nl.shared_hbm), or annotate "
               "the parameter as nt.mutable_tensor and return it",
       .operands = {{"dst", t}}});
  return false;
}

Value load(Session& s, Bound& b, Op) {
  const TensorPtr src = b.tensor("src");
  if (!src)
    return {s.poison({1, 1}, Element::float32)};
  const Element element = b.element("dtype").value_or(src->element);
  if (!src->poison && on_chip(s.memory(*src)))
    s.report({.code = "err_unsupported_memory",
              .message = fmt::format("nl.load reads HBM, and `src` is in {}", name(s.memory(*src))),
              .edit = "use nl.copy between SBUF and PSUM",
              .operands = {{"src", src}}});
  const std::vector<std::int64_t> shape = src->view.shape();
  if (!shape.empty() && shape[0] > s.core().partitions) {
    s.report({.code = "err_num_partition_exceed_arch_limit",
              .message = fmt::format("nl.load makes a tile of shape [{}] with {} partitions",
                                     fmt::join(shape, ", "), shape[0]),
              .limit = fmt::format("{} partitions", s.core().partitions),
              .edit = "load nl.tile_size.pmax rows at a time in a loop",
              .operands = {{"src", src}}});
    return {s.poison(shape, element)};
  }
  return {s.emit_result({.kind = Kind::compute,
                         .engine = Engine::dma,
                         .sources = {{shape.size() == 1 ? column(src->view, 2) : src->view}},
                         .mask = b.mask()},
                        shape.empty() ? std::vector<std::int64_t>{1, 1} : shape, element)};
}

Value load_transpose(Session& s, Bound& b, Op) {
  const TensorPtr src = b.tensor("src");
  if (!src)
    return {s.poison({1, 1}, Element::float32)};
  const std::vector<std::int64_t> shape = src->view.shape();
  const Element element = b.element("dtype").value_or(src->element);
  if (shape.size() != 2) {
    s.report({.code = "err_exceed_max_supported_dimension",
              .message =
                  fmt::format("nl.load_transpose2d takes 2-D tensors, and `src` has the shape [{}]",
                              fmt::join(shape, ", ")),
              .limit = "2 dimensions",
              .edit = "index it down to two dimensions",
              .operands = {{"src", src}}});
    return {s.poison({1, 1}, element)};
  }
  if (shape[1] > s.core().partitions) {
    s.report(
        {.code = "err_num_partition_exceed_arch_limit",
         .message = fmt::format("nl.load_transpose2d makes a tile with {} partitions", shape[1]),
         .limit = fmt::format("{} partitions", s.core().partitions),
         .edit = "load 128 columns at a time",
         .operands = {{"src", src}}});
    return {s.poison({shape[1], shape[0]}, element)};
  }
  return {s.emit_result(
      {.kind = Kind::transpose, .engine = Engine::dma, .sources = {{src->view}}, .mask = b.mask()},
      {shape[1], shape[0]}, element)};
}

Value store(Session& s, Bound& b, Op) {
  const TensorPtr dst = b.tensor("dst");
  if (!dst)
    return {None{}};
  const bool may = dst->poison || check_mutable(s, dst);
  if (!dst->poison && on_chip(s.memory(*dst))) {
    s.report(
        {.code = "err_unsupported_memory",
         .message = fmt::format("nl.store writes HBM, and `dst` is in {}", name(s.memory(*dst))),
         .edit = "assign to the tile: name[...] = value",
         .operands = {{"dst", dst}}});
    return {None{}};
  }
  const Term value = term_of(s, b["value"], "value");
  if (!value.ok || !may || dst->poison || (value.tensor && value.tensor->poison))
    return {None{}};
  Instruction i{.kind = Kind::compute,
                .engine = Engine::dma,
                .dst = dst->view,
                .sources = {value.operand},
                .mask = b.mask()};
  if (value.tensor) {
    const std::vector<std::int64_t> to = dst->view.shape();
    std::vector<std::int64_t> from = value.tensor->view.shape();
    View source = value.tensor->view;
    if (to.size() == 1 && from.size() == 2 && from[1] == 1) { // (N,) of HBM is N partitions
      from = {from[0]};
      source.dims.resize(1);
      for (Index& axis : source.axes)
        if (axis.dims.size() == 2)
          axis.dims.resize(1);
    }
    const auto joined = broadcast(to, from);
    if (!joined || *joined != to) {
      s.report(
          {.code = "err_store_dst_shape_smaller_than_other_shape",
           .message = fmt::format("nl.store writes a value of shape [{}] to a place of shape [{}]",
                                  fmt::join(from, ", "), fmt::join(to, ", ")),
           .edit = "give both the same shape",
           .operands = {{"dst", dst}, {"value", value.tensor}}});
      return {None{}};
    }
    i.sources = {{source}};
  }
  s.emit(std::move(i));
  return {None{}};
}

Value atomic_rmw(Session& s, Bound& b, Op) {
  const TensorPtr dst = b.tensor("dst"), value = b.tensor("value");
  const Op op = b.operation("op");
  if (!dst || !value || !check_tile(s, value, "value") || !check_mutable(s, dst))
    return {None{}};
  if (op != Op::add)
    s.report({.code = "NK-operator",
              .message = fmt::format("nl.atomic_rmw adds, and got {}", name(op)),
              .edit = "use op=np.add"});
  s.emit({.kind = Kind::dma_accumulate,
          .engine = Engine::dma,
          .dst = dst->view,
          .sources = {{value->view}},
          .accumulate = true,
          .mask = b.mask()});
  return {None{}};
}

Value copy(Session& s, Bound& b, Op) {
  const TensorPtr src = b.tensor("src");
  if (!src || !check_tile(s, src, "src"))
    return {s.poison(src ? src->view.shape() : std::vector<std::int64_t>{1, 1}, Element::float32)};
  return {s.emit_result(
      {.kind = Kind::compute, .engine = Engine::vector, .sources = {{src->view}}, .mask = b.mask()},
      src->view.shape(), b.element("dtype").value_or(src->element))};
}

Value broadcast_to(Session& s, Bound& b, Op) {
  const TensorPtr src = b.tensor("src");
  const std::vector<std::int64_t> shape = b.integers("shape");
  if (!src)
    return {s.poison(shape.empty() ? std::vector<std::int64_t>{1, 1} : shape, Element::float32)};
  return s.broadcast_tile(src, shape);
}

Value expand_dims(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data");
  if (!data)
    return {s.poison({1, 1}, Element::float32)};
  Values keys(data->view.dims.size(), Value{Slice{}});
  for (const std::int64_t axis : b.integers("axis")) {
    const std::int64_t at = axis < 0 ? axis + static_cast<std::int64_t>(keys.size()) + 1 : axis;
    if (at <= 0 || at > static_cast<std::int64_t>(keys.size())) {
      s.report({.code = "NK-axis",
                .message = fmt::format("nl.expand_dims cannot add axis {}", axis),
                .edit = "the partition dimension stays first"});
      return {data};
    }
    keys.insert(keys.begin() + at, Value{None{}});
  }
  return s.item(data, list_of(keys));
}

// Arithmetic

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

// Reductions

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

// Products

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

// Others

Value rand(Session& s, Bound& b, Op) {
  const auto shape = shape_of(s, b, Memory::sbuf);
  if (!shape)
    return {s.poison({1, 1}, Element::float32)};
  return {s.emit_result({.kind = Kind::random, .engine = Engine::vector}, shape->sizes,
                        b.element("dtype").value_or(Element::float32))};
}
Value random_seed(Session& s, Bound&, Op) {
  s.emit({.kind = Kind::seed, .engine = Engine::vector});
  return {None{}};
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
Value gather_flattened(Session& s, Bound& b, Op) {
  const TensorPtr data = b.tensor("data"), indices = b.tensor("indices");
  if (!data || !indices || !check_tile(s, data, "data") || !check_tile(s, indices, "indices"))
    return {s.poison({1, 1}, Element::float32)};
  if (indices->element != Element::uint32)
    s.report({.code = "NK-dtype",
              .message =
                  fmt::format("the indices of nl.gather_flattened are {}", name(indices->element)),
              .limit = "uint32",
              .edit = "load or compute them with dtype=nl.uint32",
              .operands = {{"indices", indices}}});
  check_partitions(s, {{"data", data}, {"indices", indices}}, false);
  return {s.emit_result({.kind = Kind::gather,
                         .engine = Engine::gpsimd,
                         .sources = {{data->view}, {indices->view}},
                         .mask = b.mask()},
                        indices->view.shape(), b.element("dtype").value_or(data->element))};
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
Value device_print(Session& s, Bound& b, Op) {
  if (const TensorPtr x = b.tensor("x"))
    s.emit({.kind = Kind::print, .dst = x->view, .mask = b.mask()});
  return {None{}};
}

constexpr std::string_view unary_signature = "x, *, dtype=None, mask=None";
constexpr std::string_view binary_signature = "x, y, *, dtype=None, mask=None";
constexpr std::string_view reduce_signature = "x, axis, *, dtype=None, mask=None, keepdims=False";
constexpr std::string_view make_signature = "shape, dtype, *, buffer=None";

} // namespace

const std::vector<Call>& language_calls() {
  static const std::vector<Call> calls = [] {
    std::vector<Call> all = {
        {"nl.ndarray", make_signature, ndarray},
        {"nl.zeros", make_signature, zeros},
        {"nl.ones", make_signature, ones},
        {"nl.full", "shape, fill_value, dtype, *, buffer=None", full},
        {"nl.empty_like", "a, dtype=None, *, buffer=None", like},
        {"nl.zeros_like", "a, dtype=None, *, buffer=None", like, Op::subtract},
        {"nl.shared_constant", "constant, dtype=None", shared_constant},
        {"nl.shared_identity_matrix", "n, dtype=None", identity_matrix},
        {"nl.load", "src, *, mask=None, dtype=None", load},
        {"nl.load_transpose2d", "src, *, mask=None, dtype=None", load_transpose},
        {"nl.store", "dst, value, *, mask=None", store},
        {"nl.atomic_rmw", "dst, value, op, *, mask=None", atomic_rmw},
        {"nl.copy", "src, *, mask=None, dtype=None", copy},
        {"nl.broadcast_to", "src, *, shape", broadcast_to},
        {"nl.expand_dims", "data, axis", expand_dims},
        {"nl.where", "condition, x, y, *, dtype=None, mask=None", where},
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
        {"nl.all_reduce", "x, op, program_axes, *, dtype=None, mask=None", nullptr},
        {"nl.transpose", unary_signature, transpose},
        {"nl.matmul", "x, y, *, transpose_x=False, mask=None", matmul},
        {"nl.rand", "shape, dtype=None", rand},
        {"nl.random_seed", "seed, *, mask=None", random_seed},
        {"nl.dropout", "x, rate, *, dtype=None, mask=None", dropout},
        {"nl.gather_flattened", "data, indices, *, mask=None, dtype=None", gather_flattened},
        {"nl.program_id", "axis", program_id},
        {"nl.num_programs", "axes=None", num_programs},
        {"nl.program_ndim", "", program_ndim},
        {"nl.device_print", "prefix, x, *, mask=None", device_print},
        {"nl.mod", "x, y, dtype=None, mask=None", binary_call, Op::mod},
        {"nl.fmod", "x, y, dtype=None, mask=None", binary_call, Op::fmod},
        {"nl.logical_not", unary_signature, unary_call, Op::logical_not},
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
