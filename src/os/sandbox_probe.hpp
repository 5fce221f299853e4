// SPDX-License-Identifier: Apache-2.0
// Which sandbox this machine can close, found by trying: a throw-away child closes the facility,
// attempts what it forbids, and must fail in the expected way. A few milliseconds in all.
//
//   T3  namespaces + Landlock + seccomp + cgroup    T1  seccomp + rlimits
//   T2  Landlock + seccomp + rlimits                T0  separate processes only
// Every tier freezes by confirmed SIGSTOP and runs with dumpable = 0.
#pragma once

#include "os/sandbox.hpp"
#include "os/sandbox_cgroup.hpp"

#include <string>
#include <vector>

namespace kw {

/// One facility: what a throw-away child tried, and what came of it.
struct SandboxTrial {
  std::string facility; ///< "namespaces", "Landlock", "seccomp", "cgroup", "hidden memory"
  bool works = false;
  std::string tried, happened;
};

struct SandboxReport {
  int tier = 0;
  bool namespaces = false;
  int landlock_abi = 0; ///< 0 = absent, or a restricted child could still open files
  bool seccomp = false;
  CgroupKind cgroup = CgroupKind::none; ///< a group could be made and a child put into it
  bool memory_hidden = false;           ///< PR_SET_DUMPABLE = 0 is honoured
  std::string freezer = "SIGSTOP, confirmed";
  std::vector<SandboxTrial> trials;
  std::vector<std::string> missing; ///< one line per missing facility, with its remedy

  /// "T3"
  [[nodiscard]] std::string tier_name() const { return "T" + std::to_string(tier); }
  /// "namespaces, Landlock 7, seccomp, cgroup v1"
  [[nodiscard]] std::string describe() const;
};

[[nodiscard]] SandboxReport probe_sandbox(const SandboxDenials& deny = {});

} // namespace kw
