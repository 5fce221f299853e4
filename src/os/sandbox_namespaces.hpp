// SPDX-License-Identifier: Apache-2.0
// Private network, IPC, mount and host-name namespaces for a zygote, and a pid namespace for each
// child it makes. Network namespaces are costly to take down (the kernel does it later, on some
// CPU), so the children of one zygote share one; a pid namespace is cheap and dies with its init.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace kw {

/// Leaves the caller's namespaces. As root, or with CAP_SYS_ADMIN, directly; otherwise through a
/// user namespace without any mapping, so nothing has to be written to uid_map and the process may
/// hide its memory first. Returns 0 or an errno value. The caller must be single-threaded.
int enter_private_namespaces() noexcept;

struct ForkResult {
  pid_t pid = -1; ///< 0 in the child; -1 on failure, see error
  int pidfd = -1; ///< in the caller
  int error = 0;
};

/// fork() in a new pid namespace (`new_pid_namespace`) whose parent is the *caller's* parent
/// (`as_sibling`): that process may then wait for it and sees it stop. The caller must be
/// single-threaded and no pid-namespace init.
ForkResult fork_confined(bool new_pid_namespace, bool as_sibling) noexcept;

/// As real root that may signal other users' processes: uid, gid 65534 and no groups. Always: no
/// capabilities, in whatever namespace. Returns 0 or an errno value.
int drop_privileges() noexcept;

} // namespace kw
