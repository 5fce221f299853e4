// SPDX-License-Identifier: Apache-2.0
#include "os/sandbox_probe.hpp"

#include "os/process.hpp"
#include "os/sandbox_landlock.hpp"
#include "os/sandbox_namespaces.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
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

/// Codes of a probe's child: it holds, or which step did not and why.
constexpr int holds = 7, leaks = 8;

/// A step that failed, as an exit code: 64 and an errno value below 64.
int failed(int error) {
  return 64 + (error & 63);
}

/// What came of a probe in words; `works` only where the child says so.
void describe(SandboxTrial& trial, int status, const char* when_it_leaks) {
  if (status == -1)
    trial.happened = "no child could be started";
  else if (WIFSIGNALED(status))
    trial.happened = "the child was killed by " + signal_name(WTERMSIG(status));
  else if (const int code = WEXITSTATUS(status); code == holds)
    trial.works = true, trial.happened = "refused, as it should be";
  else if (code >= 64)
    trial.happened = std::string("it cannot be closed: ") + std::strerror(code - 64);
  else
    trial.happened = code == leaks ? when_it_leaks : "the child ended without an answer";
}

SandboxTrial try_namespaces() {
  SandboxTrial trial{"namespaces",
                     false,
                     "leave network, IPC, mount and host-name namespaces, then fork the init of a "
                     "pid namespace",
                     {}};
  describe(trial, status_of_child([] {
             const pid_t outer = ::getpid();
             if (const int error = enter_private_namespaces(); error != 0)
               return failed(error);
             const ForkResult child = fork_confined(true, false);
             if (child.pid == 0) // init of its own world, and not the process we know
               ::_exit(::getpid() == 1 && ::getppid() == 0 && outer != 1 ? holds : leaks);
             int status = 0;
             if (child.pid < 0)
               return failed(child.error);
             if (::waitpid(child.pid, &status, 0) != child.pid)
               return failed(errno);
             return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
           }),
           "the child still saw its old pid namespace");
  if (trial.works)
    trial.happened = "the child is process 1 of its own";
  return trial;
}

SandboxTrial try_landlock() {
  SandboxTrial trial{"Landlock", false, "allow no path, then open / and /dev/null", {}};
  const auto ruleset = make_landlock_ruleset({});
  if (!ruleset) {
    trial.happened = ruleset.error().message;
    return trial;
  }
  const int fd = ruleset->get();
  describe(trial, status_of_child([fd] {
             if (const int error = restrict_with_landlock(fd); error != 0)
               return failed(error);
             const bool refused = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0 &&
                                  errno == EACCES && ::open("/dev/null", O_WRONLY | O_CLOEXEC) < 0;
             return refused ? holds : leaks;
           }),
           "files could still be opened");
  return trial;
}

SandboxTrial try_seccomp() {
  SandboxTrial trial{"seccomp", false, "install the filter of kernels, then make a socket", {}};
  const auto program = make_seccomp_program(SeccompProfile::kernel);
  if (!program) {
    trial.happened = program.error().message;
    return trial;
  }
  const int status = status_of_child([&program] {
    if (const int error = install_seccomp(*program, true); error != 0)
      return failed(error);
    ::socket(AF_INET, SOCK_STREAM, 0);
    return leaks; // must not come here
  });
  describe(trial, status, "the filter let it through");
  trial.works = status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
  return trial;
}

SandboxTrial try_hiding() {
  SandboxTrial trial{"hidden memory", false, "PR_SET_DUMPABLE = 0, then ask for it", {}};
  describe(trial, status_of_child([] {
             if (::prctl(PR_SET_DUMPABLE, 0) != 0)
               return failed(errno);
             return ::prctl(PR_GET_DUMPABLE) == 0 ? holds : leaks;
           }),
           "the process can still be dumped");
  if (trial.works)
    trial.happened = "it is set";
  return trial;
}

SandboxTrial try_cgroup(CgroupKind& kind) {
  SandboxTrial trial{"cgroup", false, "make a control group and move a child into it", {}};
  const auto group = SandboxCgroup::create(std::uint64_t{64} << 20, 4);
  if (!group) {
    trial.happened = group.error().message;
    return trial;
  }
  describe(trial, status_of_child([&group] { return group->add(::getpid()) ? holds : leaks; }),
           "the child cannot be moved into it");
  kind = trial.works ? group->kind() : CgroupKind::none;
  if (trial.works)
    trial.happened =
        kind == CgroupKind::v2 ? "the child is in it, version 2" : "the child is in it, version 1";
  return trial;
}

/// As if the machine did not have it: how tests and the red team reach weaker tiers.
SandboxTrial denied(const char* facility) {
  return {facility, false, "nothing", "it was denied on request"};
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
  report.trials = {deny.namespaces ? denied("namespaces") : try_namespaces(),
                   deny.landlock ? denied("Landlock") : try_landlock(),
                   deny.seccomp ? denied("seccomp") : try_seccomp(),
                   deny.cgroup ? denied("cgroup") : try_cgroup(report.cgroup), try_hiding()};
  report.namespaces = report.trials[0].works;
  report.landlock_abi = report.trials[1].works ? landlock_abi() : 0;
  report.seccomp = report.trials[2].works;
  report.memory_hidden = report.trials[4].works;
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
