// SPDX-License-Identifier: Apache-2.0
#include "service/lease.hpp"

#include <chrono>

namespace kw {

Result<FileLock> timing_lease(const std::string& purpose) {
  return FileLock::acquire("/tmp/kernwright-timing.lock", purpose, std::chrono::hours(1));
}

} // namespace kw
