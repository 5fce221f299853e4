// SPDX-License-Identifier: Apache-2.0
// TensorE and DMA of nki.isa: products, transposes, transfers.
#include "nki/trace/isa.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

using Op = Operation;

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
  if (b.member("oob_mode", 0) == 1)
    s.report(
        {.code = "NK-unsupported",
         .message =
             "nisa.dma_copy with oob_mode.skip is part of NKI and not supported by this simulator",
         .edit = "mask what is out of bounds, or check the kernel with the real compiler"});
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

const std::vector<Call>& isa_matrix_calls() {
  static const std::vector<Call> calls = {
      {"nisa.nc_matmul",
       "stationary, moving, *, is_stationary_onezero=False, is_moving_onezero=False, "
       "is_transpose=False, tile_position=None, tile_size=None, mask=None",
       nc_matmul},
      {"nisa.nc_transpose", "data, *, mask=None, dtype=None, engine=None", nc_transpose},
      {"nisa.dma_copy", "*, dst, src, mask=None, dst_rmw_op=None, oob_mode=None, dge_mode=None",
       dma_copy},
      {"nisa.dma_transpose", "src, *, mask=None, dtype=None", dma_transpose},
      {"nisa.get_nc_version", "", nc_version},
      {"nisa.builtin_custom_op",
       "function_name, lib_file_name, ulib_to_ucode_version, ulib_to_isa_version, srcs, dsts",
       nullptr},
      {"nisa.tensor_copy_dynamic_dst", "*, dst, src, mask=None, dtype=None, engine=None", nullptr},
      {"nisa.tensor_copy_dynamic_src", "src, *, mask=None, dtype=None, engine=None", nullptr},
  };
  return calls;
}

} // namespace kw::nki
