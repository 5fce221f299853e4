// SPDX-License-Identifier: Apache-2.0
// The sandbox of side runs: a candidate built with a compiler's sanitizers, whose runtime reserves
// terabytes of address space, reads /proc/self and writes a report. Nothing is measured in it and
// nothing it says counts for a candidate, so it may be wider than the one of arms: files can be
// read where the dynamic linker looks, threads can be made, the error stream can be written. No
// network, no new process, no writable file, no signal to anyone.
#pragma once

#include "base/result.hpp"
#include "os/sandbox.hpp"
#include "os/sandbox_cgroup.hpp"
#include "os/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kw {

struct SideSandbox {
  std::vector<std::string> read_only; ///< the driver and the object
  std::uint64_t cpu_seconds = 60;
  std::uint64_t memory_bytes = std::uint64_t{4} << 30; ///< by cgroup: address space is no measure
  std::uint64_t threads = 64;
  SandboxDenials deny;
};

/// Everything prepared in the parent; closing it in the child is system calls only. Must outlive
/// the child: its control group ends with it.
class PreparedSideSandbox {
 public:
  static Result<PreparedSideSandbox> prepare(const SideSandbox& spec);

  /// Closes the sandbox for the calling process. Returns 0 or an errno value; async-signal-safe.
  int close() const noexcept;
  /// For run_child and spawn: borrows this object.
  [[nodiscard]] ChildHook hook() const;

  [[nodiscard]] bool limits_memory() const { return cgroup_.has_value(); }

 private:
  SideSandbox spec_;
  std::optional<SandboxCgroup> cgroup_;
  std::vector<UniqueFd> entrances_; ///< writing "0" moves the writer into the group
  UniqueFd ruleset_;
  SeccompProgram filter_;
};

} // namespace kw
