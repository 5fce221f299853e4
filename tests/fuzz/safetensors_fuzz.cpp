// SPDX-License-Identifier: Apache-2.0
// Any bytes: an error, or a header whose tensors tile the file.
#include "base/result.hpp"
#include "tensor/safetensors.hpp"

#include <span>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto file = kw::read_safetensors_header(bytes, size, "fuzz");
  if (!file) {
    KW_ASSERT(!file.error().message.empty());
    return 0;
  }
  std::uint64_t covered = file->data_start;
  for (const kw::SafetensorsEntry& tensor : file->tensors) {
    KW_ASSERT(tensor.begin >= file->data_start && tensor.begin <= tensor.end && tensor.end <= size);
    covered += tensor.end - tensor.begin;
    if (tensor.dtype && tensor.begin != tensor.end) {
      std::int64_t elements = 1;
      for (const std::int64_t extent : tensor.shape)
        elements *= extent;
      KW_ASSERT(kw::byte_size(*tensor.dtype, elements) == tensor.end - tensor.begin);
    }
  }
  KW_ASSERT(covered == size);
  return 0;
}
