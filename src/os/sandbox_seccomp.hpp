// SPDX-License-Identifier: Apache-2.0
// System-call filters. A program is compiled once (libseccomp, may allocate); installing it is one
// system call, so a child may do it between vfork and exec, and a zygote pays for it once.
// Filters stack: a later, tighter program adds to an earlier one and can never loosen it.
#pragma once

#include "base/result.hpp"

#include <linux/filter.h>
#include <vector>

namespace kw {

enum class SeccompProfile {
  /// A compiler driver and its children: everything but networking, tracing, namespaces, mounts,
  /// kernel interfaces; those answer EPERM.
  compile,
  /// While candidate code is being loaded (its constructors would run here): read-only opens, file
  /// mappings, nothing that writes, talks, forks or signals. Anything else kills the process.
  load,
  /// While candidate code is being called: futex, the end of a signal handler, exit, yield, and
  /// mprotect that never makes memory executable. Anything else kills the process.
  kernel,
};

using SeccompProgram = std::vector<sock_filter>;

/// Errors: unsupported when libseccomp cannot build for this machine.
Result<SeccompProgram> make_seccomp_program(SeccompProfile profile);

/// Sets no_new_privs and installs the program for every thread of the process (`all_threads`) or
/// the calling one. Returns 0 or an errno value. Async-signal-safe.
int install_seccomp(const SeccompProgram& program, bool all_threads) noexcept;

} // namespace kw
