// SPDX-License-Identifier: Apache-2.0
// System-call filters. A program is compiled once (libseccomp, may allocate); installing it is one
// system call, so a child may do it between vfork and exec, and a zygote pays for it once.
// Filters stack: a later, tighter program adds to an earlier one and can never loosen it.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <linux/filter.h>
#include <span>
#include <vector>

namespace kw {

enum class SeccompProfile {
  /// A compiler driver and its children: everything but networking, tracing, namespaces, mounts,
  /// kernel interfaces; those answer EPERM.
  compile,
  /// While candidate code is being loaded (its constructors would run here): read-only opens, file
  /// mappings, nothing that writes, talks, forks or signals. Anything else kills the process.
  load,
  /// While candidate code is being called: futex, the end of the process, yield, and mprotect that
  /// never makes memory executable. Anything else kills the process. The runner adds
  /// mprotect_only_within its arenas.
  kernel,
  /// A candidate built with sanitizers (sandbox_side.hpp), from before exec on: memory, threads,
  /// reading files, writing to standard error. Anything else answers EPERM, since the runtimes try
  /// things that they can do without.
  side_run,
};

using SeccompProgram = std::vector<sock_filter>;

/// Errors: unsupported when libseccomp cannot build for this machine.
Result<SeccompProgram> make_seccomp_program(SeccompProfile profile);

/// Kills whoever calls mprotect on an address outside [begin, end); allows everything else, so it
/// is worth something only on top of another program. What follows `end` is the caller's business:
/// mprotect stops at the first mapping that may not get the new protection, having changed those
/// before it. Cannot fail: written by hand, since the addresses are known only in the child.
std::array<sock_filter, 14> mprotect_only_within(std::uint64_t begin, std::uint64_t end) noexcept;

/// Sets no_new_privs and installs the program for every thread of the process (`all_threads`) or
/// the calling one. Returns 0 or an errno value. Async-signal-safe.
int install_seccomp(std::span<const sock_filter> program, bool all_threads) noexcept;

} // namespace kw
