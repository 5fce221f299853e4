// SPDX-License-Identifier: Apache-2.0
// What the running process knows and hides about itself.
#pragma once

#include "base/result.hpp"

#include <string>

namespace kw {

/// Absolute path of the running executable.
Result<std::string> own_executable();

/// `name` in the folder of the running executable (how kernwright finds kernwright-runner).
/// Errors: not_found, with the folder that was searched.
Result<std::string> sibling_executable(const std::string& name);

/// PR_SET_DUMPABLE = 0: same-user processes can no longer ptrace this one, read its memory or its
/// /proc files, and it leaves no core dump. execve() resets it, so every process calls it itself.
/// It also makes writing uid_map fail for ordinary users: set up namespaces first.
Status hide_memory();
[[nodiscard]] bool memory_hidden();

} // namespace kw
