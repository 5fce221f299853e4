// SPDX-License-Identifier: Apache-2.0
// Judge-made memory that arms map: a memfd whose size can never change again.
#pragma once

#include "base/result.hpp"
#include "os/unique_fd.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace kw {

class SharedMemory {
 public:
  enum class Others { may_write, read_only };

  /// Mapped writable here, filled with zeros on first touch. With `read_only`, every later mapping
  /// of the descriptor, here or elsewhere, is read-only for good (F_SEAL_FUTURE_WRITE).
  static Result<SharedMemory> create(const char* name, std::size_t bytes, Others others);

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    fd_ = std::move(other.fd_);
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SharedMemory();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::byte* base() const { return base_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  UniqueFd fd_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The file's bytes in a sealed memfd: what was admitted is what will be loaded.
Result<UniqueFd> sealed_copy(const std::string& path);

} // namespace kw
