// SPDX-License-Identifier: Apache-2.0
#include "formats/loading.hpp"

#include "os/files.hpp"
#include "tensor/safetensors.hpp"

#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace kw {
namespace {

using Shape = std::vector<std::int64_t>;

/// The header of one file, read once however many workloads use it.
Result<SafetensorsFile> read_header(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || !std::filesystem::is_regular_file(path, error))
    return fail(ErrorKind::not_found, fmt::format("{} does not exist", path),
                "the paths of inputs are relative to the root of the set", path);
  std::ifstream in(path, std::ios::binary);
  std::string bytes(256, '\0'); // enough for the length field and to recognise a git-LFS pointer
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (is_lfs_pointer(bytes))
    return fail(ErrorKind::not_found,
                fmt::format("{} is a git-LFS pointer, its content was not downloaded", path),
                fmt::format("run `git lfs pull --include \"{}\"`", path), path);
  KW_TRY(const std::uint64_t header,
         safetensors_header_size(std::as_bytes(std::span(bytes)), size, path));
  in.clear();
  in.seekg(0);
  bytes.resize(static_cast<std::size_t>(header));
  if (!in.read(bytes.data(), static_cast<std::streamsize>(header)))
    return fail(ErrorKind::invalid_input, fmt::format("{} ends within its header", path),
                "the file is cut off: copy it again", path);
  return read_safetensors_header(std::as_bytes(std::span(bytes)), size, path);
}

/// Empty when an axis of the tensor is not bound; check_set says so.
std::optional<Shape> shape_of(const Definition& d, const TensorSpec& t, const Workload& w) {
  Shape out;
  for (const std::string& name : t.shape.value_or(std::vector<std::string>{})) {
    const Axis* axis = d.axis(name);
    if (axis != nullptr && axis->value) {
      out.push_back(*axis->value);
      continue;
    }
    const auto at = std::ranges::find(w.axes, name, &std::pair<std::string, std::int64_t>::first);
    if (at == w.axes.end())
      return std::nullopt;
    out.push_back(at->second);
  }
  return out;
}

bool stored_as(const TensorSpec& t, const Shape& shape, const SafetensorsEntry& e) {
  if (e.dtype == t.dtype && e.shape == shape)
    return true;
  // Packed pairs: torch's float4_e2m1fn_x2 halves the last axis, and older writers say U8.
  if (t.dtype != DType::float4_e2m1 || shape.empty() || shape.back() % 2 != 0)
    return false;
  Shape packed = shape;
  packed.back() /= 2;
  return e.shape == packed && (e.dtype == t.dtype || e.dtype_name == "U8");
}

std::string text(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

} // namespace

void check_blobs(const TraceSet& set, Issues& issues) {
  std::map<std::string, Result<SafetensorsFile>> headers;
  for (const auto& [name, workloads] : set.workloads) {
    const Definition* d = set.definition(name);
    for (const Workload& w : workloads)
      for (const auto& [input, spec] : w.inputs) {
        const auto* blob = std::get_if<SafetensorsInput>(&spec);
        if (blob == nullptr)
          continue;
        const auto report = [&](std::string message, std::string remedy) {
          issues.push_back(
              {Severity::error,
               {ErrorKind::invalid_input, std::move(message), std::move(remedy), w.where}});
        };
        const std::string path = join_path(set.root, blob->path);
        auto at = headers.find(path);
        if (at == headers.end())
          at = headers.emplace(path, read_header(path)).first;
        if (!at->second) {
          report(
              fmt::format("the input `{}` cannot be read: {}", input, at->second.error().message),
              at->second.error().remedy);
          continue;
        }
        const SafetensorsEntry* entry = at->second->find(blob->tensor_key);
        if (entry == nullptr) {
          std::vector<std::string> keys;
          for (const SafetensorsEntry& e : at->second->tensors)
            keys.push_back(e.name);
          report(fmt::format("{} has no tensor `{}`", path, blob->tensor_key),
                 fmt::format("it holds: {}", fmt::join(keys, " ")));
          continue;
        }
        const TensorSpec* t = nullptr;
        if (d != nullptr)
          for (const TensorSpec& candidate : d->inputs)
            if (candidate.name == input)
              t = &candidate;
        const auto shape = t == nullptr ? std::nullopt : shape_of(*d, *t, w);
        if (shape && !stored_as(*t, *shape, *entry))
          report(fmt::format("the tensor `{}` of {} is {} {}, `{}` must be {} {}", blob->tensor_key,
                             path, entry->dtype_name, text(entry->shape), input, kw::name(t->dtype),
                             text(*shape)),
                 "correct the axes of the workload, or write the tensor again");
      }
  }
}

} // namespace kw
