// SPDX-License-Identifier: Apache-2.0
// What tiles can do besides being passed to calls: operators, assignment, products, transposes.
#include "nki/trace/operands.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {

TensorPtr Session::constant(const HostArray& data, Element element) {
  Buffer b{.id = static_cast<BufferId>(program_.buffers.size()),
           .name = fmt::format("constant{}", constants++),
           .element = element,
           .memory = Memory::shared_hbm,
           .shape = data.shape,
           .partition_axis = -1,
           .writable = false,
           .constant = true,
           .made = place_};
  program_.buffers.push_back(b);
  std::vector<std::byte> bytes = data.bytes;
  if (element != data.element) {
    const std::int64_t n = b.elements();
    std::vector<float> values(static_cast<std::size_t>(n));
    load_floats(data.element, data.bytes.data(), 1, values.data(), n);
    bytes.resize(static_cast<std::size_t>(n) * bytes_of(element));
    store_floats(element, values.data(), bytes.data(), 1, n);
  }
  if (machine_)
    machine_->add(b, bytes);
  contents_[b.id] = std::move(bytes);
  return std::make_shared<Tensor>(Tensor{.view = whole(b), .element = element});
}

Value Session::broadcast_tile(const TensorPtr& t, const std::vector<std::int64_t>& shape) {
  const std::vector<std::int64_t> own = t->view.shape();
  const auto joined = broadcast(own, shape);
  if (!joined || *joined != shape) {
    report({.code = "NK-shape-mismatch",
            .message = fmt::format("a tile of shape [{}] cannot be repeated to [{}]",
                                   fmt::join(own, ", "), fmt::join(shape, ", ")),
            .edit = "only dimensions of size 1 repeat",
            .operands = {{"src", t}}});
    return {poison(shape.empty() ? std::vector<std::int64_t>{1, 1} : shape, t->element)};
  }
  if (!shape.empty() && shape[0] > core().partitions) {
    report({.code = "err_num_partition_exceed_arch_limit",
            .message = fmt::format("broadcast_to makes {} partitions", shape[0]),
            .limit = fmt::format("{} partitions", core().partitions),
            .edit = "repeat to nl.tile_size.pmax rows",
            .operands = {{"src", t}}});
    return {poison(shape, t->element)};
  }
  auto out = std::make_shared<Tensor>(*t);
  out->view = stretched(t->view, shape);
  return {TensorPtr(std::move(out))};
}

Value Session::transposed(const TensorPtr& x, Element element, const Mask& mask, Engine engine) {
  const std::vector<std::int64_t> shape = x->view.shape();
  const std::int64_t partitions = shape.empty() ? 1 : shape[0], free = x->view.free_elements();
  if (shape.size() > 2 && api == "nl.transpose") {
    report({.code = "err_exceed_max_supported_dimension",
            .message = fmt::format("{} takes 2-D tiles, and `x` has the shape [{}]", api,
                                   fmt::join(shape, ", ")),
            .limit = "2 dimensions",
            .edit = "index it down to two dimensions",
            .operands = {{"x", x}}});
    return {poison({std::min<std::int64_t>(free, core().partitions), partitions}, element)};
  }
  const bool small = partitions <= core().vector_transpose && free <= core().vector_transpose;
  if (engine == Engine::none)
    engine = small && !x->poison && memory(*x) == Memory::psum ? Engine::vector : Engine::tensor;
  const std::int64_t limit = engine == Engine::vector ? core().vector_transpose : core().partitions;
  if (partitions > limit || free > limit) {
    report({.code = "err_size_of_dimension_exceed_arch_limit",
            .message = fmt::format("{} of a tile of shape [{}] on {}", api, fmt::join(shape, ", "),
                                   name(engine)),
            .limit = fmt::format("{0} partitions by {0} free elements on {1}", limit, name(engine)),
            .edit = fmt::format("transpose {0} x {0} pieces in a loop", limit),
            .operands = {{"x", x}}});
    return {poison({std::min<std::int64_t>(free, core().partitions), partitions}, element)};
  }
  if (engine == Engine::tensor && !x->poison && memory(*x) != Memory::sbuf) {
    report({.code = "err_unsupported_memory",
            .message = fmt::format("{} on TensorE reads SBUF, and the tile is in {}", api,
                                   name(memory(*x))),
            .edit = "copy it to SBUF first: nl.copy(tile)",
            .operands = {{"x", x}}});
    return {poison({free, partitions}, element)};
  }
  return {emit_result({.kind = Kind::transpose,
                       .engine = engine,
                       .sources = {{x->view}},
                       .transposes = true,
                       .mask = mask},
                      {free, partitions}, element,
                      engine == Engine::tensor ? Memory::psum : Memory::sbuf)};
}

Value Session::product(const TensorPtr& stationary, const TensorPtr& moving, const Mask& mask,
                       ProductOptions options) {
  const Core& c = core();
  const std::vector<std::int64_t> ss = stationary->view.shape(), ms = moving->view.shape();
  const std::int64_t m = stationary->view.free_elements(), n = moving->view.free_elements();
  std::vector<std::int64_t> shape = {m};
  shape.insert(shape.end(), ms.begin() + 1, ms.end());
  if (shape.size() < 2)
    shape.push_back(1);
  const std::vector<std::pair<std::string, TensorPtr>> both_operands = {{"stationary", stationary},
                                                                        {"moving", moving}};
  bool ok = !stationary->poison && !moving->poison;
  const auto refuse = [&](std::string code, std::string message, std::string limit,
                          std::string edit) {
    report({.code = std::move(code),
            .message = std::move(message),
            .limit = std::move(limit),
            .edit = std::move(edit),
            .operands = both_operands});
    ok = false;
  };
  for (const auto& [parameter, t] : both_operands)
    if (!t->poison && memory(*t) != Memory::sbuf)
      refuse("err_unsupported_memory",
             fmt::format("`{}` of {} is in {}: TensorE reads SBUF only", parameter, api,
                         name(memory(*t))),
             "", "copy it to SBUF first: nl.copy(tile)");
  if (!stationary->poison && !moving->poison && ss[0] != ms[0])
    refuse("err_num_partition_mismatch",
           fmt::format("{} contracts over the partitions: `stationary` has {}, `moving` has {}",
                       api, ss[0], ms[0]),
           "",
           "give both the contraction dimension first; nl.matmul(x, y) without transpose_x takes x "
           "as [M, K]");
  if (m > c.stationary_free)
    refuse("err_size_of_dimension_exceed_arch_limit",
           fmt::format("the stationary tile of {} has {} free elements", api, m),
           fmt::format("{} (nl.tile_size.gemm_stationary_fmax)", c.stationary_free), "tile M");
  if (n > c.moving_free)
    refuse("err_size_of_dimension_exceed_arch_limit",
           fmt::format("the moving tile of {} has {} free elements", api, n),
           fmt::format("{} (nl.tile_size.gemm_moving_fmax)", c.moving_free), "tile N");
  const auto legal = [](Element e) { return is_floating(e); };
  const auto full = [](Element e) { return e == Element::float32 || e == Element::tfloat32; };
  if (!stationary->poison && !moving->poison &&
      (!legal(stationary->element) || !legal(moving->element)))
    refuse("NK-matmul-dtype",
           fmt::format("{} multiplies {} by {}", api, name(stationary->element),
                       name(moving->element)),
           "float8, bfloat16, float16, tfloat32, float32",
           "cast integers to a floating-point type first");
  else if (!stationary->poison && !moving->poison &&
           full(stationary->element) != full(moving->element))
    refuse("NK-matmul-dtype",
           fmt::format("{} multiplies {} by {}", api, name(stationary->element),
                       name(moving->element)),
           "float32 only with float32", "cast one: nl.copy(tile, dtype=...)");
  if (!ok)
    return {poison(shape, Element::float32)};
  return {emit_result({.kind = Kind::matmul,
                       .engine = Engine::tensor,
                       .sources = {{stationary->view}, {moving->view}},
                       .transposes = options.transposes,
                       .one_zero = options.one_zero,
                       .mask = mask},
                      shape, Element::float32, Memory::psum)};
}

namespace {
std::string_view operator_name(Operation op) {
  switch (op) {
  case Operation::add:
    return "+";
  case Operation::subtract:
    return "-";
  case Operation::multiply:
    return "*";
  case Operation::divide:
    return "/";
  default:
    return name(op);
  }
}
} // namespace

Value Session::binary(Operation op, const Value& a, const Value& b) {
  api = operator_name(op);
  return elementwise(*this, op, a, &b, std::nullopt, {});
}

Value Session::unary(Operation op, const Value& a) {
  api = name(op);
  return elementwise(*this, op, a, nullptr, std::nullopt, {});
}

Value Session::in_place(Operation op, const TensorPtr& t, const Value& by) {
  api = op == Operation::add ? "+=" : operator_name(op);
  if (!readable(t, "left side"))
    return {t};
  const auto* other = by.get<TensorPtr>();
  if (op == Operation::add && other != nullptr && !t->poison && memory(*t) == Memory::psum &&
      t->element == Element::float32 && retarget(*other, t->view, t->element, true))
    return {t};
  const Term x = term_of(*this, by, "right side");
  if (!x.ok || t->poison || !check_tile(*this, t, "left side"))
    return {t};
  const std::vector<std::int64_t> shape = t->view.shape();
  if (x.tensor) {
    const auto joined = joined_shape(*this, {{"left side", t}, {"right side", x.tensor}});
    if (!joined)
      return {t};
    if (*joined != shape) {
      report(
          {.code = "err_store_dst_shape_smaller_than_other_shape",
           .message = fmt::format("a tile of shape [{}] is updated by one of shape [{}]",
                                  fmt::join(shape, ", "), fmt::join(x.tensor->view.shape(), ", ")),
           .edit = "give both the same shape",
           .operands = {{"left side", t}, {"right side", x.tensor}}});
      return {t};
    }
    check_one_psum(*this, "left side", t, "right side", x.tensor);
  }
  emit({.kind = Kind::compute,
        .engine = engine_for(op, memory(*t) == Memory::psum),
        .dst = t->view,
        .sources = {{t->view}},
        .steps = {{.op = op, .with = x.operand}}});
  return {t};
}

void Session::assign(const TensorPtr& t, const Value& key, const Value& value) {
  api = "assignment";
  bool failed = false;
  if (!readable(t, "left side"))
    return;
  const View to = key_view(t, key, failed);
  if (failed || t->poison)
    return;
  const Buffer& b = buffer(*t);
  if (!on_chip(b.memory)) {
    report({.code = "err_unsupported_memory",
            .message = fmt::format("`{}` is in {} and cannot be assigned to",
                                   b.name.empty() ? "the tensor" : b.name, name(b.memory)),
            .edit = "write it with nl.store(dst, value)",
            .operands = {{"left side", t}}});
    return;
  }
  const auto* source = value.get<TensorPtr>();
  if (source != nullptr && (*source)->poison)
    return;
  if (source != nullptr && (*source)->view.buffer == to.buffer &&
      (*source)->view.offset == to.offset && (*source)->view.dims == to.dims)
    return; // acc[...] += x has been done in place
  auto written = std::make_shared<Tensor>(Tensor{.view = to, .element = t->element});
  if (source != nullptr && retarget(*source, to, t->element, false))
    return;
  Term x = term_of(*this, value, "right side");
  if (!x.ok || !check_tile(*this, written, "left side"))
    return;
  if (x.tensor) {
    const std::vector<std::int64_t> target = to.shape(), own = x.tensor->view.shape();
    const auto joined = broadcast(target, own);
    if (!joined || *joined != target) {
      report({.code = "err_store_dst_shape_smaller_than_other_shape",
              .message = fmt::format("a value of shape [{}] is assigned to a place of shape [{}]",
                                     fmt::join(own, ", "), fmt::join(target, ", ")),
              .edit = "give both the same shape",
              .operands = {{"left side", written}, {"right side", x.tensor}}});
      return;
    }
    if (!check_partitions(*this, {{"left side", written}, {"right side", x.tensor}}, true))
      return;
  }
  emit({.kind = Kind::compute, .engine = Engine::vector, .dst = to, .sources = {x.operand}});
}

Value Session::method(const TensorPtr& t, std::string_view what, const Arguments& arguments) {
  const auto shape_of = [&]() {
    std::vector<std::int64_t> shape;
    Values all = arguments.positional;
    for (const auto& [key, v] : arguments.named)
      if (key == "shape")
        all = {v};
    if (all.size() == 1 && all[0].list() != nullptr)
      all = *all[0].list();
    for (const Value& v : all)
      if (const auto* p = v.get<PartitionSize>())
        shape.push_back(p->size);
      else
        shape.push_back(integer_of(v).value_or(-1));
    return shape;
  };
  api = what == "reshape"        ? "tensor.reshape"
        : what == "broadcast_to" ? "tensor.broadcast_to"
        : what == "astype"       ? "tensor.astype"
                                 : "tensor method";
  if (!readable(t, "tensor"))
    return {t};
  if (what == "broadcast_to")
    return broadcast_tile(t, shape_of());
  if (what == "astype") {
    const auto* e = arguments.positional.empty() ? nullptr : arguments.positional[0].get<Element>();
    if (e == nullptr || !check_tile(*this, t, "tensor"))
      return {t};
    return {emit_result({.kind = Kind::compute, .engine = Engine::vector, .sources = {{t->view}}},
                        t->view.shape(), *e)};
  }
  if (what == "reshape") {
    const std::vector<std::int64_t> shape = shape_of();
    std::int64_t n = 1;
    for (const std::int64_t size : shape)
      n *= size;
    const View plain = whole(buffer(*t));
    const bool dense = t->view.dims == plain.dims && t->view.offset == plain.offset;
    if (n != t->view.elements() || !dense) {
      report({.code = "NK-reshape",
              .message = fmt::format("a tensor of shape [{}] cannot be reshaped to [{}]",
                                     fmt::join(t->view.shape(), ", "), fmt::join(shape, ", ")),
              .edit = dense ? "keep the number of elements"
                            : "reshape the whole tensor, not a part of it",
              .operands = {{"tensor", t}}});
      return {poison(shape, t->element)};
    }
    if (on_chip(memory(*t)) && (shape.size() < 2 || shape[0] != t->view.dims[0].size)) {
      report(
          {.code = "NK-reshape",
           .message = fmt::format(
               "a tile of shape [{}] cannot be reshaped to [{}]: elements would change partitions",
               fmt::join(t->view.shape(), ", "), fmt::join(shape, ", ")),
           .edit = "keep the first dimension, or transpose",
           .operands = {{"tensor", t}}});
      return {poison(shape, t->element)};
    }
    View out{.buffer = t->view.buffer};
    out.dims.resize(shape.size());
    std::int64_t stride = 1;
    for (std::size_t k = shape.size(); k-- > 0;) {
      out.dims[k] = {shape[k], stride};
      stride *= shape[k];
    }
    Buffer alias = buffer(*t); // bounds are those of the new axes
    alias.shape = shape;
    out.axes = whole(alias).axes;
    out.extents = shape;
    auto made = std::make_shared<Tensor>(*t);
    made->view = std::move(out);
    return {TensorPtr(std::move(made))};
  }
  report({.code = "NK-unknown-name",
          .message = fmt::format("a tensor has no method `{}`", what),
          .edit = "use functions of nki.language"});
  throw KernelStopped{};
}

} // namespace kw::nki
