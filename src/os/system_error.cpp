// SPDX-License-Identifier: Apache-2.0
#include "os/system_error.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <system_error>

namespace kw {
namespace {

std::string remedy_for(int error_number, const std::string& path) {
  switch (error_number) {
  case ENOSPC:
  case EDQUOT:
    return "free some disk space (or raise the quota), or point the command at another disk; "
           "nothing that was already there has been changed";
  case EROFS:
    return "the file system is mounted read-only: choose a directory on a writable one";
  case EACCES:
  case EPERM:
    return fmt::format("check the owner and mode with `ls -ld {0}` and of the folders above it, or "
                       "choose a directory you may write to",
                       path.empty() ? "." : path);
  case ENOENT:
    return "check the spelling of the path";
  case ENOTDIR:
    return "a part of the path is a file, not a folder";
  case EISDIR:
    return "name a file inside the folder";
  case EFBIG:
    return "a file size limit is in force: see `ulimit -f`";
  case EMFILE:
  case ENFILE:
    return "too many open files: raise `ulimit -n`";
  case EAGAIN:
    return "too many processes or threads: see `ulimit -u` and the pids limit of the container";
  case ENOMEM:
    return "not enough memory: close other programs or lower --jobs";
  case ENAMETOOLONG:
    return "use a shorter path";
  case ELOOP:
    return "the path runs through a symbolic link that is not followed here";
  default:
    return {};
  }
}

} // namespace

Error system_error(int error_number, std::string_view action, const std::string& path) {
  Error error;
  // A path that cannot be what it was named as is the caller's mistake, the rest is the machine's.
  const bool misnamed =
      error_number == ENOTDIR || error_number == EISDIR || error_number == ENAMETOOLONG;
  error.kind = error_number == ENOENT ? ErrorKind::not_found
               : misnamed             ? ErrorKind::invalid_input
                                      : ErrorKind::infrastructure;
  error.message = fmt::format("cannot {}{}{}: {}", action, path.empty() ? "" : " ", path,
                              std::generic_category().message(error_number));
  error.remedy = remedy_for(error_number, path);
  return error;
}

tl::unexpected<Error> fail_errno(std::string_view action, const std::string& path) {
  return fail(system_error(errno, action, path));
}

} // namespace kw
