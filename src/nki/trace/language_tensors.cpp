// SPDX-License-Identifier: Apache-2.0
// Tensors of nki.language: creation, transfers, other shapes.
// Source: nki.language reference, Neuron SDK 2.24.
#include "nki/trace/language.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

using Op = Operation;

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

Value device_print(Session& s, Bound& b, Op) {
  if (const TensorPtr x = b.tensor("x"))
    s.emit({.kind = Kind::print, .dst = x->view, .mask = b.mask()});
  return {None{}};
}

constexpr std::string_view make_signature = "shape, dtype, *, buffer=None";

} // namespace

const std::vector<Call>& language_tensors_calls() {
  static const std::vector<Call> calls = {
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
      {"nl.rand", "shape, dtype=None", rand},
      {"nl.random_seed", "seed, *, mask=None", random_seed},
      {"nl.gather_flattened", "data, indices, *, mask=None, dtype=None", gather_flattened},
      {"nl.device_print", "prefix, x, *, mask=None", device_print},
  };
  return calls;
}

} // namespace kw::nki
