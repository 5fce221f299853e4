// SPDX-License-Identifier: Apache-2.0
#include "os/sandbox_namespaces.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kw {

int enter_private_namespaces() noexcept {
  constexpr int wanted = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWUTS;
  if (::unshare(wanted) == 0)
    return 0;
  return ::unshare(wanted | CLONE_NEWUSER) == 0 ? 0 : errno;
}

ForkResult fork_confined(bool new_pid_namespace, bool as_sibling) noexcept {
  ForkResult result;
  clone_args args{};
  args.flags = CLONE_PIDFD;
  args.pidfd = reinterpret_cast<std::uint64_t>(&result.pidfd);
  if (new_pid_namespace)
    args.flags |= CLONE_NEWPID;
  if (as_sibling)
    args.flags |= CLONE_PARENT; // the exit signal is then the caller's own
  else
    args.exit_signal = SIGCHLD;
  result.pid = static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
  // Container filters answer ENOSYS, because they cannot see what is asked for; plain clone they
  // let through where it asks for no namespace.
  if (result.pid < 0 && errno == ENOSYS)
    result.pid = static_cast<pid_t>(
        ::syscall(SYS_clone, args.flags | args.exit_signal, nullptr, &result.pidfd, nullptr, 0));
  if (result.pid < 0)
    result.error = errno;
  return result;
}

namespace {

/// CAP_KILL: without it, as in a container started with --cap-drop, root cannot stop or kill a
/// process of another user, not even its own child.
bool may_signal_anyone() noexcept {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> held{};
  return ::syscall(SYS_capget, &header, held.data()) == 0 &&
         (held[0].effective & (1U << CAP_KILL)) != 0;
}

} // namespace

int drop_privileges() noexcept {
  constexpr uid_t nobody = 65534;
  if (::getuid() == 0 && may_signal_anyone()) {
    // In an unmapped user namespace uid 0 does not exist and this branch is not taken.
    if (::setgroups(0, nullptr) != 0 || ::setresgid(nobody, nobody, nobody) != 0 ||
        ::setresuid(nobody, nobody, nobody) != 0)
      if (errno != EPERM)
        return errno;
  }
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0 ? 0 : errno;
}

} // namespace kw
