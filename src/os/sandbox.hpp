// SPDX-License-Identifier: Apache-2.0
// The compiler's sandbox. Hostile source cannot read the machine's files through #include or
// .incbin, reach the network, or see other processes. Closed with what the kernel offers; the
// facilities one by one are in sandbox_*.hpp, what works here in sandbox_probe.hpp.
#pragma once

#include "base/result.hpp"
#include "os/sandbox_seccomp.hpp"
#include "os/spawn.hpp"
#include "os/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kw {

/// Facilities to do without, as if the machine did not have them: how tests reach the weaker tiers.
struct SandboxDenials {
  bool namespaces = false, landlock = false, seccomp = false, cgroup = false;
};

struct CompileSandbox {
  std::vector<std::string> read_only; ///< besides the toolchain: include folders, source files
  std::string temp_dir;               ///< the only writable folder
  std::uint64_t cpu_seconds = 30;
  std::uint64_t address_space_bytes = std::uint64_t{4} << 30;
  std::uint64_t file_bytes = std::uint64_t{64} << 20;
  std::uint64_t open_files = 256;
  SandboxDenials deny;
};

/// Landlock, then the filter, for the calling process; either may be absent. Returns 0 or an errno
/// value; async-signal-safe.
int close_files_and_calls(const UniqueFd& ruleset, const SeccompProgram& filter) noexcept;

/// Everything prepared in the parent; closing it in the child is system calls only.
///   KW_TRY(auto sandbox, PreparedSandbox::prepare(spec)); child.prepare = sandbox.hook();
class PreparedSandbox {
 public:
  static Result<PreparedSandbox> prepare(const CompileSandbox& spec);

  /// Closes the sandbox for the calling process. Returns 0 or an errno value; async-signal-safe.
  int close() const noexcept;
  /// For run_child and spawn: borrows this object, which must outlive the start of the child.
  [[nodiscard]] ChildHook hook() const;

  [[nodiscard]] bool has_landlock() const { return ruleset_.valid(); }
  [[nodiscard]] bool has_seccomp() const { return !filter_.empty(); }

 private:
  CompileSandbox spec_;
  UniqueFd ruleset_;      ///< absent without Landlock
  SeccompProgram filter_; ///< empty without seccomp
};

/// Prepare and close in one, for a forked child.
Status apply_compile_sandbox(const CompileSandbox& spec);

} // namespace kw
