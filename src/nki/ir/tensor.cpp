// SPDX-License-Identifier: Apache-2.0
#include "nki/ir/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {

std::string_view name(Memory m) {
  switch (m) {
  case Memory::shared_hbm:
    return "shared_hbm";
  case Memory::private_hbm:
    return "private_hbm";
  case Memory::sbuf:
    return "sbuf";
  case Memory::psum:
    return "psum";
  }
  return {};
}

std::int64_t Buffer::elements() const {
  std::int64_t n = 1;
  for (const std::int64_t size : shape)
    n *= size;
  return n;
}
std::int64_t Buffer::bytes_per_partition() const {
  std::int64_t n = static_cast<std::int64_t>(bytes_of(element));
  for (std::size_t k = static_cast<std::size_t>(partition_axis + 1); k < shape.size(); ++k)
    n *= shape[k];
  return n;
}
std::int64_t Buffer::blocks() const {
  std::int64_t n = 1;
  for (int k = 0; k < partition_axis; ++k)
    n *= shape[static_cast<std::size_t>(k)];
  return n;
}

std::string describe(const Buffer& b) {
  return fmt::format("{} {}[{}] in {}", name(b.element), b.name.empty() ? "tensor" : b.name,
                     fmt::join(b.shape, ", "), name(b.memory));
}

std::vector<std::int64_t> View::shape() const {
  std::vector<std::int64_t> out;
  for (const Dim& d : dims)
    out.push_back(d.size);
  return out;
}
std::int64_t View::elements() const {
  std::int64_t n = 1;
  for (const Dim& d : dims)
    n *= d.size;
  return n;
}
std::int64_t View::free_elements() const {
  std::int64_t n = 1;
  for (std::size_t j = 1; j < dims.size(); ++j)
    n *= dims[j].size;
  return n;
}

View whole(const Buffer& b) {
  View v{.buffer = b.id};
  const std::size_t rank = b.shape.size();
  v.dims.resize(rank);
  v.axes.resize(rank);
  std::int64_t stride = 1;
  for (std::size_t k = rank; k-- > 0;) {
    v.dims[k] = {b.shape[k], stride};
    v.axes[k].dims.resize(rank);
    for (std::size_t j = 0; j < rank; ++j)
      v.axes[k].dims[j] = {j == k ? b.shape[k] : 1, j == k ? 1 : 0};
    stride *= b.shape[k];
  }
  return v;
}

bool is_tile(const View& v, const Buffer& b) {
  if (!on_chip(b.memory))
    return true;
  if (v.axes.size() <= static_cast<std::size_t>(b.partition_axis))
    return false;
  const Index& partition = v.axes[static_cast<std::size_t>(b.partition_axis)];
  for (std::size_t j = 1; j < partition.dims.size(); ++j)
    if (partition.dims[j].size > 1 && partition.dims[j].coefficient != 0)
      return false;
  for (std::size_t k = 0; k < v.axes.size(); ++k)
    if (static_cast<int>(k) != b.partition_axis && !v.axes[k].dims.empty() &&
        v.axes[k].dims[0].size > 1 && v.axes[k].dims[0].coefficient != 0)
      return false;
  return true;
}

} // namespace kw::nki
