// SPDX-License-Identifier: Apache-2.0
// Tensors and the parts of them that instructions read and write.
#pragma once

#include "nki/ir/affine.hpp"
#include "nki/lang/element.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kw::nki {

/// Where in the kernel's source something was made. Columns count from 1, 0 = unknown.
struct SourcePlace {
  std::int32_t file = 0; ///< number of the file in the session
  std::int32_t line = 0, column = 0, end_column = 0;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

enum class Memory : std::uint8_t { shared_hbm, private_hbm, sbuf, psum };
[[nodiscard]] std::string_view name(Memory m);
[[nodiscard]] constexpr bool on_chip(Memory m) {
  return m == Memory::sbuf || m == Memory::psum;
}

using BufferId = std::int32_t;

/// One tensor. On chip one axis is that of the partitions, axes before it are blocks of tiles.
struct Buffer {
  BufferId id = 0;
  std::string name; ///< as the kernel calls it, or of the instruction that made it
  Element element = Element::float32;
  Memory memory = Memory::sbuf;
  std::vector<std::int64_t> shape;
  int partition_axis = 0;     ///< HBM: -1
  bool parameter = false;     ///< came in from outside
  bool writable = true;       ///< parameters are not, unless they are declared so
  bool constant = false;      ///< nl.shared_constant
  bool result = false;        ///< of an instruction, without a declaration of its own
  std::optional<double> fill; ///< value that it begins with
  std::int32_t scope = 0;     ///< loop that it was made in; 0 = none
  SourcePlace made;

  [[nodiscard]] std::int64_t elements() const;
  /// Of one tile: what lies beside each other in a partition; HBM: of all.
  [[nodiscard]] std::int64_t bytes_per_partition() const;
  [[nodiscard]] std::int64_t blocks() const; ///< tiles that the block axes make
};
/// "float32 x[128, 512] in sbuf"
[[nodiscard]] std::string describe(const Buffer& b);

/// A part of a buffer: element (e_0, e_1, ...) lies at offset + sum e_j stride_j.
struct View {
  struct Dim {
    std::int64_t size = 1, stride = 0; ///< stride in elements
    friend bool operator==(const Dim&, const Dim&) = default;
  };
  BufferId buffer = -1;
  Affine offset;
  std::vector<Dim> dims;             ///< of a tile on chip the first is that of the partitions
  std::vector<Index> axes;           ///< what indexes each axis of the buffer, in places of `dims`
  std::vector<std::int64_t> extents; ///< sizes of the axes after a reshape; none: the buffer's
  /// One axis is indexed by what another tensor holds at run time: values[e_0, ...] beside `axes`.
  struct Indirect {
    int axis = 0;
    std::shared_ptr<const View> by; ///< same rank as `dims`, sizes 1 or those of `dims`
  };
  std::optional<Indirect> indirect;
  std::optional<Mask> operand_mask; ///< of a matrix product: lhs[i < 64]

  [[nodiscard]] std::vector<std::int64_t> shape() const;
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::int64_t free_elements() const; ///< beside each other in a partition
};
/// All of it, in order.
[[nodiscard]] View whole(const Buffer& b);
/// Whether the first dimension runs over the partitions and no other does.
[[nodiscard]] bool is_tile(const View& v, const Buffer& b);

} // namespace kw::nki
