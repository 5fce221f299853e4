// SPDX-License-Identifier: Apache-2.0
#include "tensor/safetensors.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

struct TypeRow {
  std::string_view name;
  unsigned bits;
  std::optional<DType> dtype;
};
constexpr std::array<TypeRow, 22> types{{
    {"F64", 64, DType::float64},
    {"F32", 32, DType::float32},
    {"F16", 16, DType::float16},
    {"BF16", 16, DType::bfloat16},
    {"F8_E4M3", 8, DType::float8_e4m3fn},
    {"F8_E5M2", 8, DType::float8_e5m2},
    {"F4", 4, DType::float4_e2m1},
    {"I64", 64, DType::int64},
    {"I32", 32, DType::int32},
    {"I16", 16, DType::int16},
    {"I8", 8, DType::int8},
    {"BOOL", 8, DType::boolean},
    {"U64", 64, {}},
    {"U32", 32, {}},
    {"U16", 16, {}},
    {"U8", 8, {}},
    {"C64", 64, {}},
    {"F8_E8M0", 8, {}},
    {"F8_E4M3FNUZ", 8, {}},
    {"F8_E5M2FNUZ", 8, {}},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
}};

constexpr const char* rewrite =
    "write the file again with the safetensors library, or fetch it again";

auto malformed(const std::string& file, std::string message) {
  return fail(ErrorKind::invalid_input, std::move(message), rewrite, file);
}

/// A JSON value as a count: an integer >= 0 that an int64 holds.
std::optional<std::uint64_t> count_of(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto n = value.get<std::uint64_t>();
    return n <= INT64_MAX ? std::optional(n) : std::nullopt;
  }
  if (value.is_number_integer()) {
    const auto n = value.get<std::int64_t>();
    return n >= 0 ? std::optional(static_cast<std::uint64_t>(n)) : std::nullopt;
  }
  return std::nullopt;
}

/// Bytes of a tensor, or nothing where that overflows or does not end on a byte.
std::optional<std::uint64_t> bytes_of(unsigned bits, const std::vector<std::int64_t>& shape) {
  std::uint64_t n = bits;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(n, static_cast<std::uint64_t>(extent), &n))
      return std::nullopt;
  return n % 8 == 0 ? std::optional(n / 8) : std::nullopt;
}

Result<SafetensorsEntry> entry_of(const std::string& name, const Json& value,
                                  std::uint64_t data_start, std::uint64_t data_size,
                                  const std::string& file) {
  const auto wrong = [&](const std::string& what) {
    return malformed(file, fmt::format("tensor '{}' {}", name, what));
  };
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets") || value.size() != 3)
    return wrong("is not an object with exactly dtype, shape and data_offsets");
  const Json& dtype = value["dtype"];
  if (!dtype.is_string())
    return wrong("has a dtype that is not a string");
  SafetensorsEntry entry;
  entry.name = name;
  entry.dtype_name = dtype.get<std::string>();
  const auto* const type = std::find_if(
      types.begin(), types.end(), [&](const TypeRow& row) { return row.name == entry.dtype_name; });
  if (type == types.end())
    return fail(ErrorKind::unsupported,
                fmt::format("tensor '{}' has the unknown dtype '{}'", name, entry.dtype_name),
                "convert the tensor to a dtype of the Definition schema", file);
  entry.dtype = type->dtype;
  const Json& shape = value["shape"];
  if (!shape.is_array())
    return wrong("has a shape that is not a list");
  for (const Json& extent : shape) {
    const auto n = count_of(extent);
    if (!n)
      return wrong("has an extent that is not a whole number >= 0");
    entry.shape.push_back(static_cast<std::int64_t>(*n));
  }
  const Json& offsets = value["data_offsets"];
  const bool pair = offsets.is_array() && offsets.size() == 2;
  const auto begin = pair ? count_of(offsets[0]) : std::nullopt;
  const auto end = pair ? count_of(offsets[1]) : std::nullopt;
  if (!begin || !end || *begin > *end)
    return wrong("has data_offsets that are not [begin, end] with 0 <= begin <= end");
  if (*end > data_size)
    return wrong(
        fmt::format("ends at byte {} of the data, which has only {} (is the file truncated?)", *end,
                    data_size));
  const auto bytes = bytes_of(type->bits, entry.shape);
  if (!bytes || *bytes != *end - *begin)
    return wrong(fmt::format("occupies {} bytes, which its dtype and shape do not", *end - *begin));
  entry.begin = data_start + *begin;
  entry.end = data_start + *end;
  return entry;
}

/// Offsets in order must meet end to begin, from the start of the data to its end.
Status check_tiling(const SafetensorsFile& f, std::uint64_t file_size, const std::string& file) {
  std::vector<const SafetensorsEntry*> order;
  order.reserve(f.tensors.size());
  for (const SafetensorsEntry& e : f.tensors)
    order.push_back(&e);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t at = f.data_start;
  for (const SafetensorsEntry* e : order) {
    if (e->begin != at)
      return malformed(
          file, fmt::format("tensor '{}' {} at byte {}", e->name,
                            e->begin < at ? "overlaps another one" : "leaves a hole before it",
                            e->begin));
    at = e->end;
  }
  if (at != file_size)
    return malformed(file, fmt::format("{} bytes follow the last tensor", file_size - at));
  return {};
}

} // namespace

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const SafetensorsEntry& e) { return e.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Result<std::uint64_t> safetensors_header_size(std::span<const std::byte> first,
                                              std::uint64_t file_size, const std::string& file) {
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (text.starts_with("version "))
    return fail(ErrorKind::not_found, "this is a git-LFS pointer, not the tensors themselves",
                "run `git lfs pull` in the repository the file came from", file);
  if (first.size() < 8 || file_size < 8)
    return malformed(file, "the file is shorter than the 8 bytes of its length field");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i)
    length |= std::to_integer<std::uint64_t>(first[i]) << (8 * i);
  if (length > max_safetensors_header)
    return malformed(file, fmt::format("the header claims {} bytes, more than the {} allowed",
                                       length, max_safetensors_header));
  if (length > file_size - 8)
    return malformed(
        file, fmt::format("the header claims {} bytes, the file has {} after the length field",
                          length, file_size - 8));
  return 8 + length;
}

Result<SafetensorsFile> read_safetensors_header(std::span<const std::byte> bytes,
                                                std::uint64_t file_size, const std::string& file) {
  KW_TRY(const std::uint64_t data_start, safetensors_header_size(bytes, file_size, file));
  if (bytes.size() < data_start)
    return malformed(file, fmt::format("only {} of the {} bytes of the header could be read",
                                       bytes.size(), data_start));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, data_start - 8);
  if (!text.starts_with('{'))
    return malformed(file, "the header does not start with '{'");
  KW_TRY(const Json header, parse_json({file, text}));
  SafetensorsFile result;
  result.data_start = data_start;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      if (!value.is_object())
        return malformed(file, "__metadata__ is not an object");
      for (const auto& [key, note] : value.items()) {
        if (!note.is_string())
          return malformed(file, fmt::format("__metadata__ entry '{}' is not a string", key));
        result.metadata.emplace_back(key, note.get<std::string>());
      }
      continue;
    }
    KW_TRY(SafetensorsEntry entry, entry_of(name, value, data_start, file_size - data_start, file));
    result.tensors.push_back(std::move(entry));
  }
  KW_CHECK(check_tiling(result, file_size, file));
  return result;
}

} // namespace kw
