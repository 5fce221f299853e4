// SPDX-License-Identifier: Apache-2.0
// An advisory lock between processes (flock): released by the kernel when the holder dies, so a
// crash leaves no stale lock. The file names the holder, for messages only.
#pragma once

#include "base/result.hpp"
#include "os/unique_fd.hpp"

#include <chrono>
#include <string>

namespace kw {

class FileLock {
 public:
  enum class Mode { exclusive, shared };

  /// Waits up to `wait` (0 = do not wait). The file is created if absent and never removed.
  /// Errors: timeout, naming the holder and its purpose; infrastructure if the file cannot be
  /// opened.
  static Result<FileLock> acquire(const std::string& path, const std::string& purpose,
                                  std::chrono::milliseconds wait = std::chrono::milliseconds{0},
                                  Mode mode = Mode::exclusive);

  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) noexcept = default;

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_; ///< closing it releases the lock
};

/// "process 1234 (archive migration)", as the last exclusive holder wrote it; "" if unknown.
[[nodiscard]] std::string lock_holder(const std::string& path);

} // namespace kw
