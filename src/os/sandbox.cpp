// SPDX-License-Identifier: Apache-2.0
#include "os/sandbox.hpp"

#include "os/sandbox_landlock.hpp"
#include "os/sandbox_limits.hpp"
#include "os/system_error.hpp"

#include <sys/resource.h>

namespace kw {

Result<PreparedSandbox> PreparedSandbox::prepare(const CompileSandbox& spec) {
  PreparedSandbox sandbox;
  sandbox.spec_ = spec;
  if (!spec.deny.landlock && landlock_abi() > 0) {
    LandlockPaths paths;
    // What a Debian or Red Hat toolchain lives in, and the two devices it opens.
    paths.read_execute = {"/usr",
                          "/bin",
                          "/lib",
                          "/lib64",
                          "/etc/alternatives",
                          "/etc/ld.so.cache",
                          "/etc/ld.so.conf",
                          "/etc/ld.so.conf.d",
                          "/dev/urandom",
                          "/dev/zero"};
    paths.read_execute.insert(paths.read_execute.end(), spec.read_only.begin(),
                              spec.read_only.end());
    paths.read_write = {"/dev/null"};
    if (!spec.temp_dir.empty())
      paths.read_write.push_back(spec.temp_dir);
    KW_TRY(sandbox.ruleset_, make_landlock_ruleset(paths));
  }
  if (!spec.deny.seccomp) {
    // The program is the same for every compiler run of this process.
    static const Result<SeccompProgram> program = make_seccomp_program(SeccompProfile::compile);
    if (!program)
      return fail(program.error());
    sandbox.filter_ = *program;
  }
  return sandbox;
}

int close_files_and_calls(const UniqueFd& ruleset, const SeccompProgram& filter) noexcept {
  if (ruleset.valid())
    if (const int error = restrict_with_landlock(ruleset.get()); error != 0)
      return error;
  return filter.empty() ? 0 : install_seccomp(filter, false);
}

int PreparedSandbox::close() const noexcept {
  for (const auto& [resource, limit] :
       {ResourceLimit{RLIMIT_CPU, spec_.cpu_seconds},
        ResourceLimit{RLIMIT_AS, spec_.address_space_bytes},
        ResourceLimit{RLIMIT_FSIZE, spec_.file_bytes},
        ResourceLimit{RLIMIT_NOFILE, spec_.open_files}, ResourceLimit{RLIMIT_CORE, 0}})
    if (const int error = limit_resource(resource, limit); error != 0)
      return error;
  return close_files_and_calls(ruleset_, filter_);
}

ChildHook PreparedSandbox::hook() const {
  return {[](void* self) { return static_cast<const PreparedSandbox*>(self)->close(); },
          const_cast<PreparedSandbox*>(this)}; // only read through it
}

Status apply_compile_sandbox(const CompileSandbox& spec) {
  KW_TRY(const PreparedSandbox sandbox, PreparedSandbox::prepare(spec));
  if (const int error = sandbox.close(); error != 0)
    return fail(system_error(error, "close the compile sandbox"));
  return {};
}

} // namespace kw
