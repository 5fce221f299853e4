// SPDX-License-Identifier: Apache-2.0
#include "os/sandbox_probe.hpp"

#include "os/sandbox_landlock.hpp"
#include "os/sandbox_namespaces.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kw {
namespace {

/// Runs `body` in a forked child; the wait status, or -1. Little more than system calls: another
/// thread may have held a lock at the fork.
template <class Body> int status_of_child(Body body) {
  const pid_t pid = ::fork();
  if (pid < 0)
    return -1;
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(body());
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return status;
}

bool exited_with(int status, int code) {
  return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == code;
}

bool namespaces_work() {
  return exited_with(status_of_child([] {
                       const pid_t outer = ::getpid();
                       if (enter_private_namespaces() != 0)
                         return 1;
                       const ForkResult child = fork_confined(true, false);
                       if (child.pid == 0) // init of its own world, and not the process we know
                         ::_exit(::getpid() == 1 && ::getppid() == 0 && outer != 1 ? 7 : 2);
                       int status = 0;
                       if (child.pid < 0 || ::waitpid(child.pid, &status, 0) != child.pid)
                         return 3;
                       return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
                     }),
                     7);
}

bool landlock_works() {
  const auto ruleset = make_landlock_ruleset({});
  if (!ruleset)
    return false;
  const int fd = ruleset->get();
  return exited_with(status_of_child([fd] {
                       if (restrict_with_landlock(fd) != 0)
                         return 1;
                       const bool refused = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0 &&
                                            errno == EACCES &&
                                            ::open("/dev/null", O_WRONLY | O_CLOEXEC) < 0;
                       return refused ? 7 : 2;
                     }),
                     7);
}

bool seccomp_works() {
  const auto program = make_seccomp_program(SeccompProfile::kernel);
  if (!program)
    return false;
  const int status = status_of_child([&program] {
    if (install_seccomp(*program, true) != 0)
      return 1;
    return ::socket(AF_INET, SOCK_STREAM, 0) < 0 ? 2 : 3; // must not come back
  });
  return status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

bool hiding_works() {
  return exited_with(status_of_child([] {
                       return ::prctl(PR_SET_DUMPABLE, 0) == 0 && ::prctl(PR_GET_DUMPABLE) == 0 ? 7
                                                                                                : 1;
                     }),
                     7);
}

CgroupKind working_cgroup() {
  const auto group = SandboxCgroup::create(std::uint64_t{64} << 20, 4);
  if (!group)
    return CgroupKind::none;
  const bool joined =
      exited_with(status_of_child([&group] { return group->add(::getpid()) ? 7 : 1; }), 7);
  return joined ? group->kind() : CgroupKind::none;
}

int tier_of(const SandboxReport& r) {
  if (!r.seccomp)
    return 0;
  if (r.landlock_abi == 0)
    return 1;
  return r.namespaces && r.cgroup != CgroupKind::none ? 3 : 2;
}

} // namespace

std::string SandboxReport::describe() const {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (namespaces)
    add("namespaces");
  if (landlock_abi > 0)
    add("Landlock " + std::to_string(landlock_abi));
  if (seccomp)
    add("seccomp");
  if (cgroup != CgroupKind::none)
    add(cgroup == CgroupKind::v2 ? "cgroup v2" : "cgroup v1");
  return text.empty() ? "separate processes only" : text;
}

SandboxReport probe_sandbox(const SandboxDenials& deny) {
  SandboxReport report;
  report.memory_hidden = hiding_works();
  report.namespaces = !deny.namespaces && namespaces_work();
  report.landlock_abi = !deny.landlock && landlock_works() ? landlock_abi() : 0;
  report.seccomp = !deny.seccomp && seccomp_works();
  report.cgroup = deny.cgroup ? CgroupKind::none : working_cgroup();
  report.tier = tier_of(report);
  if (!report.namespaces)
    report.missing.emplace_back(
        "namespaces: allow unprivileged user namespaces (sysctl user.max_user_namespaces, "
        "kernel.apparmor_restrict_unprivileged_userns=0), or run the container with "
        "--security-opt seccomp=unconfined");
  if (report.landlock_abi == 0)
    report.missing.emplace_back("Landlock: needs Linux >= 5.13 booted with lsm=landlock,... and a "
                                "container filter that permits the landlock_* system calls");
  if (!report.seccomp)
    report.missing.emplace_back("seccomp: needs a kernel with CONFIG_SECCOMP_FILTER");
  if (report.cgroup == CgroupKind::none)
    report.missing.emplace_back("cgroup: run as root or in a delegated group "
                                "(systemd-run --user -p Delegate=yes)");
  return report;
}

} // namespace kw
