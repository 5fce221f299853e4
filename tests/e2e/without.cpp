// SPDX-License-Identifier: Apache-2.0
// without FACILITY[,FACILITY...] [--user UID] -- PROGRAM ARGS...: runs a program on a machine that
// lacks something, by a system-call filter of its own, as a container's would be. The program
// cannot tell it from the real thing.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <grp.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <string>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "without: %s: %s\n", what, std::strerror(errno));
  std::exit(77);
}

void deny(scmp_filter_ctx filter, int error, const char* call) {
  if (const int number = seccomp_syscall_resolve_name(call); number != __NR_SCMP_ERROR)
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), number, 0) != 0)
      stop(call);
}

/// No namespace of any kind, the way Docker's default profile has it.
void deny_namespaces(scmp_filter_ctx filter) {
  deny(filter, EPERM, "unshare");
  deny(filter, EPERM, "setns");
  deny(filter, ENOSYS, "clone3"); // its flags cannot be seen
  for (const std::uint64_t flag : {CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                                   CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP})
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                         SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag)) != 0)
      stop("clone");
}

/// A mount namespace in which no control group can be made. Takes root.
void hide_cgroups() {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
      ::mount("none", "/sys/fs/cgroup", "tmpfs", MS_RDONLY, nullptr) != 0)
    stop("hide the control groups");
}

} // namespace

int main(int argc, char** argv) {
  int at = 2;
  long user = -1;
  if (argc > 4 && std::string(argv[at]) == "--user")
    user = std::atol(argv[at + 1]), at += 2;
  if (at + 1 >= argc || std::string(argv[at]) != "--")
    return 2;
  const std::string lacking = "," + std::string(argv[1]) + ",";
  const auto lacks = [&](const char* facility) {
    return lacking.find("," + std::string(facility) + ",") != std::string::npos;
  };
  if (lacks("cgroup") && ::geteuid() == 0)
    hide_cgroups();
  if (user >= 0) {
    const auto id = static_cast<unsigned>(user);
    if (::setgroups(0, nullptr) != 0 || ::setresgid(id, id, id) != 0 ||
        ::setresuid(id, id, id) != 0)
      stop("change the user");
  }
  if (lacks("capabilities")) // of a container's root: what is not in the bounding set is never had
    for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability)
      if (capability != 6 && capability != 7) // CAP_SETGID, CAP_SETUID
        ::prctl(PR_CAPBSET_DROP, capability);
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr)
    stop("a filter");
  if (lacks("namespaces"))
    deny_namespaces(filter);
  if (lacks("landlock"))
    for (const char* call :
         {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"})
      deny(filter, ENOSYS, call);
  // libseccomp of Debian 12 may not know the names; the numbers are the same on every architecture.
  if (lacks("landlock"))
    for (const int number : {444, 445, 446})
      seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), number, 0);
  if (lacks("seccomp"))
    deny(filter, EINVAL, "seccomp");
  if (lacks("personality"))
    deny(filter, EPERM, "personality");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || seccomp_load(filter) != 0)
    stop("load the filter");
  ::execv(argv[at + 1], argv + at + 1);
  stop(argv[at + 1]);
}
