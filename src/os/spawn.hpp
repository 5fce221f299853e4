// SPDX-License-Identifier: Apache-2.0
// Starts a program with everything spelled out: environment, descriptors, limits, working folder.
// The start costs the same however much memory this process holds (vfork manner, as posix_spawn).
// Waiting with pipes and a deadline: process.hpp.
#pragma once

#include "base/result.hpp"
#include "os/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kw {

/// Runs in the child after limits, folder and descriptors are set, just before exec: the place
/// where a sandbox is closed. Returns 0, or an errno value that run_child/spawn then report.
///
/// The child shares this process's memory until exec and its parent thread is suspended: the hook
/// must confine itself to async-signal-safe work (system calls on data prepared beforehand): no
/// allocation, no locks, no exceptions, no static initialisation, no writes. All signals have their
/// default action, and every descriptor above 2 is close-on-exec.
struct ChildHook {
  int (*run)(void* context) = nullptr;
  void* context = nullptr;
};

/// Unset = inherited. Both the soft and the hard limit are set; core dumps are always off.
struct ChildLimits {
  std::optional<std::uint64_t> cpu_seconds;
  std::optional<std::uint64_t> file_bytes;
  std::optional<std::uint64_t> address_space_bytes;
  std::optional<std::uint64_t> open_files;
  std::optional<std::uint64_t> stack_bytes;
};

struct SpawnSpec {
  std::string program;                  ///< absolute path; PATH is not searched
  std::vector<std::string> args;        ///< argv[1..]
  std::vector<std::string> environment; ///< complete: "NAME=value"; nothing is inherited
  std::string cwd;                      ///< "" = unchanged
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1; ///< -1 = /dev/null; borrowed
  std::vector<int> inherit; ///< further descriptors kept open under the same number
  ChildLimits limits;
  ChildHook prepare;
  bool die_with_parent = true; ///< SIGKILL when the starting thread ends
};

/// A running child, leader of its own process group. Not reaped by this record: see wait_child.
struct Spawned {
  pid_t pid = -1;
  UniqueFd pidfd; ///< readable when the child has ended
};

/// Errors: not_found for a missing program; infrastructure, naming the step that failed.
Result<Spawned> spawn(const SpawnSpec& spec);

/// SIGKILL to the child's whole group. Safe while the child is not reaped.
void kill_group(const Spawned& child);

struct ExitInfo {
  int exit_code = -1; ///< -1 when killed by a signal
  int signal = 0;
  double user_ms = 0, system_ms = 0; ///< of the child and its reaped children
  std::uint64_t max_rss_bytes = 0;
};
/// Blocks until the child ends, and reaps it.
Result<ExitInfo> wait_child(const Spawned& child);

} // namespace kw
