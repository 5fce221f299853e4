// SPDX-License-Identifier: Apache-2.0
// Resource limits: the portable floor below every tier. No allocation, so usable before exec.
#pragma once

#include <cerrno>
#include <cstdint>
#include <sys/resource.h>

namespace kw {

struct ResourceLimit {
  __rlimit_resource resource;
  std::uint64_t limit; ///< soft and hard
};

/// Lowers to `limit`, or leaves a lower hard limit. Returns 0 or an errno value.
inline int limit_resource(__rlimit_resource resource, std::uint64_t limit) noexcept {
  rlimit current{};
  if (::getrlimit(resource, &current) != 0)
    return errno;
  const rlim_t value = current.rlim_max < limit ? current.rlim_max : limit;
  const rlimit wanted{value, value};
  return ::setrlimit(resource, &wanted) == 0 ? 0 : errno;
}

} // namespace kw
