// SPDX-License-Identifier: Apache-2.0
// The safetensors header: 8 bytes little-endian length, that many bytes of JSON, then the data.
// Nothing in it is believed: offsets must tile the data exactly, without holes or overlaps, and
// every tensor must be as long as its dtype and shape say.
#pragma once

#include "base/dtype.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw {

struct SafetensorsEntry {
  std::string name;
  std::string dtype_name;     ///< as written: "BF16"
  std::optional<DType> dtype; ///< empty where the Definition schema has no such type ("U8", "C64")
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0; ///< absolute offsets in the file
};

struct SafetensorsFile {
  std::vector<SafetensorsEntry> tensors; ///< in header order
  std::vector<std::pair<std::string, std::string>> metadata;
  std::uint64_t data_start = 0;

  [[nodiscard]] const SafetensorsEntry* find(std::string_view name) const;
};

/// Longest header accepted, as in the reference implementation.
constexpr std::uint64_t max_safetensors_header = 100'000'000;

/// How many leading bytes of the file hold the whole header (length field included), from the first
/// bytes of it (8 are enough).
Result<std::uint64_t> safetensors_header_size(std::span<const std::byte> first,
                                              std::uint64_t file_size,
                                              const std::string& file = {});

/// `bytes` is the start of the file, at least safetensors_header_size of it. `file` is for
/// messages.
Result<SafetensorsFile> read_safetensors_header(std::span<const std::byte> bytes,
                                                std::uint64_t file_size,
                                                const std::string& file = {});

} // namespace kw
