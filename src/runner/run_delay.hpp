// SPDX-License-Identifier: Apache-2.0
// How long a thread that could run had to wait for a CPU, by the kernel's accounting
// (/proc/<pid>/schedstat, second figure; inside this folder only).
#pragma once

#include "os/unique_fd.hpp"

#include <cstdint>
#include <sys/types.h>

namespace kw {

/// Opened once: reading is the cheaper half. Where the kernel keeps no such account (no
/// CONFIG_SCHED_INFO) it stays 0.
class RunDelay {
 public:
  RunDelay(); ///< of the calling thread
  /// Of a process's first thread, which answers the bell. Its others, woken with it when it is
  /// thawed and asleep again at once, wait without delaying anything.
  explicit RunDelay(pid_t pid);
  [[nodiscard]] std::uint64_t ns() const; ///< so far

 private:
  UniqueFd file_;
};

} // namespace kw
