// SPDX-License-Identifier: Apache-2.0
#include "os/self.hpp"

#include "os/files.hpp"
#include "os/system_error.hpp"

#include <climits>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace kw {

Result<std::string> own_executable() {
  std::string path(PATH_MAX, '\0');
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size());
  if (n < 0)
    return fail_errno("read", "/proc/self/exe");
  path.resize(static_cast<std::size_t>(n));
  return path;
}

Result<std::string> sibling_executable(const std::string& name) {
  KW_TRY(const std::string self, own_executable());
  std::string path = join_path(parent_path(self), name);
  if (::access(path.c_str(), X_OK) != 0)
    return fail(ErrorKind::not_found,
                fmt::format("{} is not in {}, beside {}", name, parent_path(self), base_name(self)),
                "install both programs into the same folder");
  return path;
}

Status hide_memory() {
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
    return fail_errno("set PR_SET_DUMPABLE");
  return {};
}

bool memory_hidden() {
  return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
}

} // namespace kw
