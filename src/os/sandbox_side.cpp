// SPDX-License-Identifier: Apache-2.0
#include "os/sandbox_side.hpp"

#include "os/sandbox_landlock.hpp"
#include "os/sandbox_limits.hpp"

#include <array>
#include <cerrno>
#include <linux/capability.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kw {

Result<PreparedSideSandbox> PreparedSideSandbox::prepare(const SideSandbox& spec) {
  PreparedSideSandbox sandbox;
  sandbox.spec_ = spec;
  if (!spec.deny.cgroup)
    if (Result<SandboxCgroup> group = SandboxCgroup::create(spec.memory_bytes, spec.threads + 16)) {
      // A group that cannot be entered is as good as none: the caller then limits otherwise.
      if (Result<std::vector<UniqueFd>> entrances = group->entrances()) {
        sandbox.entrances_ = std::move(*entrances);
        sandbox.cgroup_ = std::move(*group);
      }
    }
  if (!spec.deny.landlock && landlock_abi() > 0) {
    LandlockPaths paths;
    // The dynamic linker's folders, and what a sanitizer reads of its own process. Other processes'
    // memory below /proc stays closed: it takes the right to trace them.
    paths.read_execute = {"/usr/lib",         "/lib",  "/lib64",      "/usr/lib64",
                          "/etc/ld.so.cache", "/proc", "/dev/urandom"};
    paths.read_execute.insert(paths.read_execute.end(), spec.read_only.begin(),
                              spec.read_only.end());
    KW_TRY(sandbox.ruleset_, make_landlock_ruleset(paths));
  }
  if (!spec.deny.seccomp) {
    static const Result<SeccompProgram> program = make_seccomp_program(SeccompProfile::side_run);
    if (!program)
      return fail(program.error());
    sandbox.filter_ = *program;
  }
  return sandbox;
}

int PreparedSideSandbox::close() const noexcept {
  for (const UniqueFd& entrance : entrances_)
    if (::write(entrance.get(), "0", 1) != 1)
      return errno;
  // Shadow memory lies at fixed addresses: a random layout sometimes gets in its way. Containers
  // may forbid this, and mostly it works all the same.
  ::personality(ADDR_NO_RANDOMIZE);
  for (const auto& [resource, limit] :
       {ResourceLimit{RLIMIT_CPU, spec_.cpu_seconds}, ResourceLimit{RLIMIT_FSIZE, 0},
        ResourceLimit{RLIMIT_NOFILE, 64}, ResourceLimit{RLIMIT_CORE, 0},
        ResourceLimit{RLIMIT_MEMLOCK, 0}, ResourceLimit{RLIMIT_MSGQUEUE, 0}})
    if (const int error = limit_resource(resource, limit); error != 0)
      return error;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return errno;
  // Root without capabilities: with no_new_privs, exec does not bring them back.
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0)
    return errno;
  return close_files_and_calls(ruleset_, filter_);
}

ChildHook PreparedSideSandbox::hook() const {
  return {[](void* self) { return static_cast<const PreparedSideSandbox*>(self)->close(); },
          const_cast<PreparedSideSandbox*>(this)}; // only read through it
}

} // namespace kw
