// SPDX-License-Identifier: Apache-2.0
#include "os/sandbox_freeze.hpp"

#include <cerrno>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace kw {
namespace {

ChildState state_of(const siginfo_t& info) {
  switch (info.si_code) {
  case CLD_STOPPED:
  case CLD_TRAPPED:
    return {ChildEvent::stopped, info.si_status};
  case CLD_KILLED:
  case CLD_DUMPED:
    return {ChildEvent::killed, info.si_status};
  case CLD_EXITED:
    return {ChildEvent::exited, info.si_status};
  default:
    return {ChildEvent::gone, 0};
  }
}

ChildState wait_for(pid_t pid, int options) noexcept {
  siginfo_t info{};
  int result = 0;
  do
    result = ::waitid(P_PID, static_cast<id_t>(pid), &info, options);
  while (result != 0 && errno == EINTR);
  if (result != 0)
    return {ChildEvent::gone, errno};
  if (info.si_pid == 0) // WNOHANG and nothing to report
    return {ChildEvent::stopped, 0};
  return state_of(info);
}

} // namespace

ChildState freeze_child(pid_t pid) noexcept {
  if (::kill(pid, SIGSTOP) != 0)
    return {ChildEvent::gone, errno};
  return wait_for(pid, WSTOPPED | WEXITED);
}

void thaw_child(pid_t pid) noexcept {
  ::kill(pid, SIGCONT);
}

ChildState poll_child(pid_t pid) noexcept {
  return wait_for(pid, WEXITED | WNOHANG);
}

ChildState kill_child(pid_t pid) noexcept {
  if (::getpgid(pid) == pid)
    ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  return wait_for(pid, WEXITED);
}

} // namespace kw
