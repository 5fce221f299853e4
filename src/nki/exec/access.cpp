// SPDX-License-Identifier: Apache-2.0
#include "nki/exec/access.hpp"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace kw::nki {
namespace {

std::string place_text(const Buffer& b, std::int64_t element) {
  std::string text;
  std::vector<std::int64_t> at(b.shape.size());
  for (std::size_t k = b.shape.size(); k-- > 0;) {
    at[k] = element % b.shape[k];
    element /= b.shape[k];
  }
  for (const std::int64_t i : at)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", i);
  return "[" + text + "]";
}

} // namespace

Access::Access(Machine& machine, const Instruction& instruction, const View& view,
               const Region& region)
    : machine_(machine), instruction_(instruction), view_(view),
      storage_(machine.storage(view.buffer)), region_(&region) {
  offset_ = view.offset.at(machine.values_);
  const std::size_t rank = region.low.size();
  strides_.assign(rank, 0);
  const std::size_t own = view.dims.size();
  for (std::size_t k = 0; k < own && k < rank; ++k) {
    const View::Dim& d = view.dims[own - 1 - k];
    strides_[rank - 1 - k] = d.size == 1 ? 0 : d.stride;
  }
  stride_ = rank == 0 ? 1 : strides_[rank - 1];
  bytes_ = static_cast<std::int64_t>(bytes_of(storage_.buffer.element));
  check_bounds(region);
}

void Access::check_bounds(const Region& region) {
  const Buffer& b = storage_.buffer;
  const std::vector<std::int64_t>& extents = view_.extents.empty() ? b.shape : view_.extents;
  const std::size_t rank = region.low.size();
  // Least and greatest index of an axis over a row or over the box.
  const auto extremes = [&](const Index& index, std::span<const std::int64_t> place,
                            std::int64_t low, std::int64_t high) {
    std::int64_t least = index.base.at(machine_.values_), most = least;
    const std::size_t dims = index.dims.size();
    for (std::size_t j = 0; j < dims; ++j) {
      const Index::Dim& d = index.dims[j];
      if (d.size == 1 || d.coefficient == 0 || rank + j < dims)
        continue;
      const std::size_t at = rank - (dims - j);
      const std::int64_t from = at + 1 == rank  ? low
                                : place.empty() ? region.low[at]
                                                : place[at],
                         to = at + 1 == rank  ? high - 1
                              : place.empty() ? region.high[at] - 1
                                              : place[at];
      least += d.coefficient * (d.coefficient > 0 ? from : to);
      most += d.coefficient * (d.coefficient > 0 ? to : from);
    }
    return std::pair(least, most);
  };
  if (view_.indirect) {
    const View& by = *view_.indirect->by;
    Region places = region;
    for (std::size_t j = 1; j < rank; ++j)
      places.low[j] = 0, places.high[j] = 1;
    places.slopes.clear();
    Access indices(machine_, instruction_, by, places);
    std::int64_t axis_stride = 1;
    for (std::size_t k = static_cast<std::size_t>(view_.indirect->axis) + 1; k < extents.size();
         ++k)
      axis_stride *= extents[k];
    const std::int64_t size = extents[static_cast<std::size_t>(view_.indirect->axis)];
    indirect_.assign(rank == 0 ? 1 : static_cast<std::size_t>(region.high[0]), 0);
    std::vector<std::int64_t> one;
    for (std::int64_t p = rank == 0 ? 0 : region.low[0]; p < (rank == 0 ? 1 : region.high[0]);
         ++p) {
      std::vector<std::int64_t> place(rank > 0 ? rank - 1 : 0, 0);
      if (!place.empty())
        place[0] = p;
      indices.integers(place, rank == 1 ? p : 0, (rank == 1 ? p : 0) + 1, one);
      if (std::vector<char> flag(1, 0); indices.take_undefined(flag)) {
        indices.report(Hazard::uninitialised, indices.last_.first);
        ok_ = false;
        return;
      }
      const std::int64_t index =
          one[0] +
          view_.axes[static_cast<std::size_t>(view_.indirect->axis)].base.at(machine_.values_);
      if (index < 0 || index >= size) {
        ok_ = false;
        machine_.note({.code = "NK-indirect-out-of-bound",
                       .message = fmt::format(
                           "index {} read at run time is outside of axis {} of `{}`, which has {}",
                           index, view_.indirect->axis, b.name, size),
                       .limit = fmt::format("0 to {}", size - 1),
                       .edit = "check the indices, or mask those that are padding",
                       .place = instruction_.place,
                       .api = instruction_.api,
                       .buffer = b.id});
        return;
      }
      indirect_[static_cast<std::size_t>(p)] = one[0] * axis_stride;
    }
  }
  for (std::size_t k = 0; k < view_.axes.size() && k < extents.size(); ++k) {
    if (view_.indirect && static_cast<int>(k) == view_.indirect->axis)
      continue;
    const Index& index = view_.axes[k];
    auto [least, most] = extremes(index, {}, rank > 0 ? region.low[rank - 1] : 0,
                                  rank > 0 ? region.high[rank - 1] : 1);
    if ((least < 0 || most >= extents[k]) && !region.slopes.empty()) {
      // A slanted mask: the corners of the box need not belong to it.
      least = most = 0;
      for_rows(region,
               [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
                 const auto [l, m] = extremes(index, place, low, high);
                 least = std::min(least, l), most = std::max(most, m);
               });
    }
    if (least >= 0 && most < extents[k])
      continue;
    ok_ = false;
    machine_.note(
        {.code = "err_tensor_access_out_of_bound",
         .message = fmt::format(
             "out-of-bound access to `{}` on axis {}: indices {} to {} exceed its size of {}",
             b.name, k, least, most, extents[k]),
         .limit = fmt::format("0 to {}", extents[k] - 1),
         .edit = fmt::format("correct the index, or pass mask=(index < {})", extents[k]),
         .place = instruction_.place,
         .api = instruction_.api,
         .buffer = b.id});
    return;
  }
}

void Access::flatten(const Region& region, std::vector<std::int64_t> strides) {
  region_ = &region;
  strides_ = std::move(strides);
  stride_ = strides_.empty() ? 1 : strides_.back();
}

void flatten(std::vector<Access*> accesses, const Region& region, std::size_t leading,
             Region& flat) {
  flat = {};
  std::vector<std::vector<std::int64_t>> strides(accesses.size());
  const std::size_t rank = region.low.size();
  for (std::size_t j = 0; j < rank; ++j) {
    bool joins = j > 0 && j != leading;
    for (std::size_t a = 0; a < accesses.size() && joins; ++a)
      joins = accesses[a]->strides()[j - 1] == accesses[a]->strides()[j] * region.high[j];
    if (joins) {
      flat.high.back() *= region.high[j];
      for (std::size_t a = 0; a < accesses.size(); ++a)
        strides[a].back() = accesses[a]->strides()[j];
      continue;
    }
    flat.low.push_back(0);
    flat.high.push_back(region.high[j]);
    for (std::size_t a = 0; a < accesses.size(); ++a)
      strides[a].push_back(accesses[a]->strides()[j]);
  }
  for (std::size_t a = 0; a < accesses.size(); ++a)
    accesses[a]->flatten(flat, std::move(strides[a]));
}

std::int64_t Access::start(std::span<const std::int64_t> place, std::int64_t low) const {
  std::int64_t at = offset_ + low * stride_;
  for (std::size_t j = 0; j < place.size(); ++j)
    at += place[j] * strides_[j];
  if (!indirect_.empty())
    at += indirect_[static_cast<std::size_t>(place.empty() ? (region_->low.size() == 1 ? low : 0)
                                                           : place[0])];
  return at;
}

void Access::report(Hazard hazard, std::int64_t element) {
  const Buffer& b = storage_.buffer;
  const std::string where = place_text(b, element);
  RunFinding f{.place = instruction_.place, .api = instruction_.api, .buffer = b.id};
  switch (hazard) {
  case Hazard::none:
    return;
  case Hazard::uninitialised:
    f.code = b.memory == Memory::psum && instruction_.accumulate
                 ? "NK-psum-accumulate-uninitialised"
                 : "NK-uninitialised-read";
    f.message = fmt::format("`{}` is read at {}, which nothing has written", b.name, where);
    if (!storage_.undefined_origin.empty())
      f.message = fmt::format(
          "`{}` is read at {}, which was made of elements of {} that nothing has written", b.name,
          where, storage_.undefined_origin);
    f.edit = b.memory == Memory::psum
                 ? "create it with nl.zeros(..., buffer=nl.psum), or write it first"
                 : "write every element that is read: check the mask and the loop bounds of what "
                   "fills it";
    break;
  case Hazard::read_after_write:
    f.code = "NK-race-read-after-write";
    f.message = fmt::format("`{}` is read at {}, which another iteration of an affine_range wrote: "
                            "the iterations may run at the same time",
                            b.name, where);
    f.edit = "use nl.sequential_range for the loop that carries the value";
    break;
  case Hazard::write_after_read:
    f.code = "NK-race-write-after-read";
    f.message = fmt::format("`{}` is written at {}, which another iteration of an affine_range "
                            "read: the iterations may run at the same time",
                            b.name, where);
    f.edit = "use nl.sequential_range, or give each iteration a tensor of its own";
    break;
  case Hazard::write_after_write:
    f.code = "err_unexpected_output_dependencies";
    f.message = fmt::format("`{}` is written at {} by more than one iteration of an affine_range",
                            b.name, where);
    f.edit = "let the index depend on the loop variable, or use nl.sequential_range";
    break;
  }
  machine_.note(std::move(f));
}

void Access::touch(std::int64_t first, std::int64_t count, bool writes, bool reduction) {
  last_ = {.first = first, .stride = stride_, .count = count};
  if (!storage_.shadow)
    return;
  std::int64_t where = first;
  const Hazard h =
      writes ? storage_.shadow->write(last_, machine_.now_, machine_.parallel_, reduction, where)
             : storage_.shadow->read(last_, machine_.now_, machine_.parallel_, reduction, where);
  if (h == Hazard::uninitialised && machine_.defers(instruction_))
    undefined_ = true;
  else if (h != Hazard::none)
    report(h, where);
}

bool Access::take_undefined(std::vector<char>& flags) {
  if (!std::exchange(undefined_, false))
    return false;
  std::vector<char> own(static_cast<std::size_t>(last_.count), 0);
  storage_.shadow->undefined(last_, own);
  for (std::size_t i = 0; i < flags.size(); ++i) // one element for all: a number that repeats
    flags[i] = static_cast<char>(flags[i] | own[own.size() == 1 ? 0 : i]);
  return true;
}

bool Access::take_undefined_columns(std::vector<char>& flags) {
  if (!std::exchange(undefined_, false))
    return false;
  std::size_t at = 0;
  std::int64_t partition = -1;
  for_rows(*region_, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    const std::int64_t p = place.empty() ? 0 : place[0];
    at = p == partition ? at : 0;
    partition = p;
    std::vector<char> own(static_cast<std::size_t>(high - low), 0);
    storage_.shadow->undefined({start(place, low), stride_, high - low}, own);
    for (const char flag : own)
      if (at < flags.size()) {
        flags[at] = static_cast<char>(flags[at] | flag);
        ++at;
      }
  });
  return true;
}

void Access::undefine_row(std::span<const std::int64_t> place, std::int64_t low,
                          const std::vector<char>& flags, const std::string& origin) {
  last_ = {start(place, low), stride_, static_cast<std::int64_t>(flags.size())};
  undefine(flags, origin);
}

std::string Access::origin() const {
  return storage_.undefined_origin.empty() ? fmt::format("`{}`", storage_.buffer.name)
                                           : storage_.undefined_origin;
}

void Access::undefine(const std::vector<char>& flags, const std::string& origin) {
  if (!storage_.shadow)
    return;
  storage_.shadow->undefine(last_, flags);
  storage_.undefined_origin = origin;
}

Access::Floats Access::floats(std::span<const std::int64_t> place, std::int64_t low,
                              std::int64_t high, std::vector<float>& scratch, bool reduction) {
  const std::int64_t at = start(place, low), n = stride_ == 0 ? 1 : high - low;
  touch(at, n, false, reduction);
  const std::byte* from = storage_.at(at * bytes_);
  const int step = stride_ == 0 ? 0 : 1;
  const Element e = storage_.buffer.element;
  if ((e == Element::float32 || e == Element::tfloat32) && (stride_ == 1 || stride_ == 0))
    return {reinterpret_cast<const float*>(from), step};
  if (static_cast<std::int64_t>(scratch.size()) < n)
    scratch.resize(static_cast<std::size_t>(n));
  load_floats(e, from, stride_, scratch.data(), n);
  return {scratch.data(), step};
}

void Access::integers(std::span<const std::int64_t> place, std::int64_t low, std::int64_t high,
                      std::vector<std::int64_t>& to) {
  const std::int64_t at = start(place, low), n = high - low;
  touch(at, stride_ == 0 ? 1 : n, false, false);
  to.resize(static_cast<std::size_t>(n));
  if (is_floating(storage_.buffer.element)) {
    std::vector<float> values(to.size());
    load_floats(storage_.buffer.element, storage_.at(at * bytes_), stride_, values.data(), n);
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<std::int64_t>(values[i]);
    return;
  }
  load_integers(storage_.buffer.element, storage_.at(at * bytes_), stride_, to.data(), n);
}

void Access::store(std::span<const std::int64_t> place, std::int64_t low, std::int64_t high,
                   const float* from, bool reduction) {
  const std::int64_t at = start(place, low), n = high - low;
  touch(at, n, true, reduction);
  store_floats(storage_.buffer.element, from, storage_.at(at * bytes_), stride_, n);
}

void Access::store_integers(std::span<const std::int64_t> place, std::int64_t low,
                            std::int64_t high, const std::int64_t* from) {
  const std::int64_t at = start(place, low), n = high - low;
  touch(at, n, true, false);
  nki::store_integers(storage_.buffer.element, from, storage_.at(at * bytes_), stride_, n);
}

void Access::copy_from(Access& source, std::span<const std::int64_t> place, std::int64_t low,
                       std::int64_t high) {
  const std::int64_t from = source.start(place, low), to = start(place, low), n = high - low;
  source.touch(from, source.stride_ == 0 ? 1 : n, false, false);
  touch(to, n, true, false);
  std::byte* out = storage_.at(to * bytes_);
  const std::byte* in = source.storage_.at(from * bytes_);
  if (stride_ == 1 && source.stride_ == 1) {
    std::memmove(out, in, static_cast<std::size_t>(n * bytes_));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(out + i * stride_ * bytes_, in + i * source.stride_ * bytes_,
                static_cast<std::size_t>(bytes_));
}

float* Access::matrix(std::int64_t& leading, bool writes, bool reduction) {
  const Element e = storage_.buffer.element;
  if ((e != Element::float32 && e != Element::tfloat32) || view_.dims.size() != 2 ||
      !indirect_.empty() || !region_->slopes.empty() ||
      (region_->high[1] - region_->low[1] > 1 && stride_ != 1) || (writes && e != Element::float32))
    return nullptr;
  leading = strides_[0];
  const std::int64_t columns = region_->high[1] - region_->low[1];
  if (leading < columns && region_->high[0] - region_->low[0] > 1)
    return nullptr; // broadcast, or rows that overlap
  leading = std::max(leading, columns);
  std::array<std::int64_t, 1> place{};
  for (std::int64_t p = region_->low[0]; p < region_->high[0]; ++p) {
    place[0] = p;
    touch(start(place, region_->low[1]), columns, writes, reduction);
  }
  place[0] = region_->low[0];
  return reinterpret_cast<float*>(storage_.at(start(place, region_->low[1]) * bytes_));
}

void Access::gather_matrix(std::vector<float>& to) {
  to.clear();
  std::vector<float> scratch;
  for_rows(*region_, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    const Floats row = floats(place, low, high, scratch);
    for (std::int64_t i = 0; i < high - low; ++i)
      to.push_back(row.data[i * row.step]);
  });
}

void Access::scatter_matrix(const float* from) {
  for_rows(*region_, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    store(place, low, high, from);
    from += high - low;
  });
}

} // namespace kw::nki
