// SPDX-License-Identifier: Apache-2.0
// A control group around a zygote and everything it starts: bounded memory and process count, and
// one write that kills all of it. Hybrid v1/v2 machines get a group in each hierarchy that helps.
#pragma once

#include "base/result.hpp"
#include "os/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kw {

enum class CgroupKind { none, v1, v2 };

class SandboxCgroup {
 public:
  /// Makes empty groups below this process's own ones. Errors: unsupported where none can be made.
  /// Groups that a killed kernwright left behind are removed on the way.
  static Result<SandboxCgroup> create(std::uint64_t memory_bytes, std::uint64_t processes);
  SandboxCgroup(SandboxCgroup&& other) noexcept;
  SandboxCgroup& operator=(SandboxCgroup&& other) noexcept;
  ~SandboxCgroup(); ///< kills what is inside (v2) and removes the groups

  /// Moves a process, and with it all its later children, inside.
  Status add(pid_t pid) const;
  /// Descriptors for a child that moves itself before it runs anything: writing "0" to each.
  Result<std::vector<UniqueFd>> entrances() const;
  /// Ids of everything inside.
  [[nodiscard]] std::vector<pid_t> processes() const;
  [[nodiscard]] CgroupKind kind() const { return kind_; }

 private:
  SandboxCgroup() = default;
  CgroupKind kind_ = CgroupKind::none;
  std::vector<std::string> groups_; ///< folders
};

} // namespace kw
