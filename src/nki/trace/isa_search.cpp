// SPDX-License-Identifier: Apache-2.0
// Statistics, greatest values and gathers of nki.isa; each works on whole partitions.
#include "nki/trace/isa.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

using Op = Operation;

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

} // namespace

const std::vector<Call>& isa_search_calls() {
  static const std::vector<Call> calls = {
      {"nisa.bn_stats", "data, *, mask=None, dtype=None", bn_stats},
      {"nisa.bn_aggr", "data, *, mask=None, dtype=None", bn_aggr},
      {"nisa.max8", "*, src, mask=None, dtype=None", max8},
      {"nisa.nc_find_index8", "*, data, vals, mask=None, dtype=None", find_index8},
      {"nisa.nc_match_replace8", "*, data, vals, imm, dst_idx=None, mask=None, dtype=None",
       match_replace8},
      {"nisa.local_gather",
       "src_buffer, index, num_elem_per_idx=None, num_valid_indices=None, *, mask=None",
       local_gather},
  };
  return calls;
}

} // namespace kw::nki
