// SPDX-License-Identifier: Apache-2.0
// Order matters: what needs system calls first, threads next, the filters last.
#include "arm.hpp"

#include "os/sandbox_landlock.hpp"
#include "os/sandbox_limits.hpp"
#include "os/sandbox_namespaces.hpp"

#include <cerrno>
#include <csignal>
#include <sys/prctl.h>

namespace kw::child {

int confine_before_threads(const protocol::StartRequest& request, const Sandbox& sandbox) {
  // Files cannot grow, nothing is dumped, nothing queues. Address space is not limited (large
  // reservations); what may be written is: workspace, stacks and a margin for the loader.
  const std::uint64_t data = request.workspace_bytes + (std::uint64_t{256} << 20) +
                             std::uint64_t{request.threads} * (std::uint64_t{16} << 20);
  for (const auto& [resource, limit] :
       {ResourceLimit{RLIMIT_CORE, 0}, ResourceLimit{RLIMIT_FSIZE, 0},
        ResourceLimit{RLIMIT_NOFILE, 8}, ResourceLimit{RLIMIT_STACK, std::uint64_t{8} << 20},
        ResourceLimit{RLIMIT_MEMLOCK, 0}, ResourceLimit{RLIMIT_MSGQUEUE, 0},
        ResourceLimit{RLIMIT_DATA, data}, ResourceLimit{RLIMIT_CPU, 3600}})
    if (const int error = limit_resource(resource, limit); error != 0)
      return error;
  if (const int error = drop_privileges(); error != 0)
    return error;
  // The zygote kills its arms when the judge is gone, and this does where the zygote is gone as
  // well. A change of user would undo it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
    return errno;
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return errno;
  if ((request.confine & protocol::confine_landlock) != 0)
    return restrict_with_landlock(sandbox.landlock_ruleset);
  return 0;
}

int confine_for_loading(const protocol::StartRequest& request, const Sandbox& sandbox) {
  // Counted per user, so it goes below the number of running threads only now; ignored for root.
  if (const int error = limit_resource(RLIMIT_NPROC, 0); error != 0)
    return error;
  if ((request.confine & protocol::confine_seccomp) == 0)
    return 0;
  return install_seccomp(sandbox.load, true);
}

int confine_for_serving(const Arm& arm, const protocol::StartRequest& request,
                        const Sandbox& sandbox) {
  if ((request.confine & protocol::confine_seccomp) == 0)
    return 0;
  // Only guard pages move from here on. A range that begins in the outputs and runs on meets the
  // inputs, whose file is sealed: mprotect for writing ends there.
  const auto arenas =
      mprotect_only_within(reinterpret_cast<std::uintptr_t>(arm.outputs),
                           reinterpret_cast<std::uintptr_t>(arm.inputs) + arm.input_bytes);
  if (const int error = install_seccomp(arenas, true); error != 0)
    return error;
  return install_seccomp(sandbox.kernel, true);
}

} // namespace kw::child
