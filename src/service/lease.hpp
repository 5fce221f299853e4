// SPDX-License-Identifier: Apache-2.0
// Only one timing at a time on a machine, across users' processes.
#pragma once

#include "base/result.hpp"
#include "os/file_lock.hpp"

#include <string>

namespace kw {

/// Waits up to an hour. Errors: timeout, naming the holder.
Result<FileLock> timing_lease(const std::string& purpose);

} // namespace kw
