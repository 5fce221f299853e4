// SPDX-License-Identifier: Apache-2.0
// Content-addressed files: blobs/ab/cdef....zst holds the zstd frame of the bytes whose SHA-256 is
// abcdef.... Names are never reused for other content, so a blob is written once and never changed.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace kw {

class BlobStore {
 public:
  explicit BlobStore(std::string root) : root_(std::move(root)) {}

  /// Durable when it returns. A damaged file of that name is replaced.
  Result<std::string> put(std::string_view bytes);
  /// Errors: not_found, invalid_input (no SHA-256), infrastructure (damaged).
  [[nodiscard]] Result<std::string> get(std::string_view sha256) const;
  [[nodiscard]] bool contains(std::string_view sha256) const;

 private:
  [[nodiscard]] std::string path_of(std::string_view sha256) const;
  std::string root_;
};

} // namespace kw
