// SPDX-License-Identifier: Apache-2.0
// File, network and signal restriction by Landlock: any user may close it, nobody can reopen it.
// A ruleset is made ahead (may allocate and open files); restricting with it is two system calls,
// so a child may do it between vfork and exec.
#pragma once

#include "base/result.hpp"
#include "os/unique_fd.hpp"

#include <string>
#include <vector>

namespace kw {

/// Highest ABI of the running kernel, 0 if Landlock is absent, disabled or filtered away.
[[nodiscard]] int landlock_abi();

/// Paths that stay reachable; everything else is denied. Paths that do not exist are skipped.
struct LandlockPaths {
  std::vector<std::string> read_execute; ///< files or folders: read, list, execute
  std::vector<std::string> read_write;   ///< folders: everything but devices; files: read and write
};

/// Handles every access right the kernel knows (later ABIs add truncate, TCP, device ioctl, signals
/// and abstract sockets). Works from ABI 1. Errors: unsupported without Landlock.
Result<UniqueFd> make_landlock_ruleset(const LandlockPaths& paths);

/// Restricts the calling thread and its later children. Sets no_new_privs. Returns 0 or an errno
/// value. Async-signal-safe.
int restrict_with_landlock(int ruleset_fd) noexcept;

} // namespace kw
