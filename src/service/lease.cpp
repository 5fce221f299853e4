// SPDX-License-Identifier: Apache-2.0
#include "service/lease.hpp"

#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace kw {

Result<FileLock> timing_lease(const std::string& purpose,
                              const std::function<void(const std::string&)>& note,
                              const std::function<bool()>& stop) {
  static constexpr const char* path = "/tmp/kernwright-timing.lock";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  for (bool noted = false;; noted = true) {
    Result<FileLock> lock = FileLock::acquire(path, purpose);
    if (lock || lock.error().kind != ErrorKind::timeout ||
        std::chrono::steady_clock::now() >= deadline)
      return lock;
    if (!noted)
      note(fmt::format("waiting: {} times on this machine, and only one may", lock_holder(path)));
    if (stop())
      return fail(ErrorKind::interrupted,
                  "interrupted while waiting for another timing on this machine");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

} // namespace kw
