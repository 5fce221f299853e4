// SPDX-License-Identifier: Apache-2.0
// Only one timing at a time on a machine, across users' processes.
#pragma once

#include "base/result.hpp"
#include "os/file_lock.hpp"

#include <functional>
#include <string>

namespace kw {

/// Waits up to an hour, and says so once through `note`. Errors: timeout, naming the holder;
/// interrupted, when `stop` says so meanwhile.
Result<FileLock> timing_lease(const std::string& purpose,
                              const std::function<void(const std::string&)>& note,
                              const std::function<bool()>& stop);

} // namespace kw
