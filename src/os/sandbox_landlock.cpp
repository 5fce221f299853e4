// SPDX-License-Identifier: Apache-2.0
#include "os/sandbox_landlock.hpp"

#include "os/system_error.hpp"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace kw {
namespace {

// Later rights than Debian 12's header knows; values are kernel ABI (landlock(7)).
constexpr std::uint64_t fs_truncate = std::uint64_t{1} << 14;  // ABI 3
constexpr std::uint64_t fs_ioctl_dev = std::uint64_t{1} << 15; // ABI 5
constexpr std::uint64_t net_bind_connect_tcp = 3;              // ABI 4
constexpr std::uint64_t scope_abstract_socket_signal = 3;      // ABI 6

/// landlock_ruleset_attr as of ABI 6; older kernels take a prefix of it.
struct RulesetAttr {
  std::uint64_t fs;
  std::uint64_t net;
  std::uint64_t scoped;
};

constexpr std::uint64_t read_rights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

constexpr std::uint64_t write_rights =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM |
    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_REFER | fs_truncate;

constexpr std::uint64_t device_rights = LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                        LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                        LANDLOCK_ACCESS_FS_MAKE_BLOCK | fs_ioctl_dev;

/// A rule on a file may only name rights that make sense for a file.
constexpr std::uint64_t file_rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                      LANDLOCK_ACCESS_FS_READ_FILE | fs_truncate | fs_ioctl_dev;

std::uint64_t handled_fs(int abi) {
  std::uint64_t rights = read_rights | write_rights | device_rights;
  if (abi < 2)
    rights &= ~std::uint64_t{LANDLOCK_ACCESS_FS_REFER};
  if (abi < 3)
    rights &= ~fs_truncate;
  if (abi < 5)
    rights &= ~fs_ioctl_dev;
  return rights;
}

Status add_path(int ruleset, const std::string& path, std::uint64_t rights) {
  const UniqueFd fd{::open(path.c_str(), O_PATH | O_CLOEXEC)};
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR)
      return {};
    return fail_errno("open for the sandbox", path);
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0)
    return fail_errno("examine", path);
  if (!S_ISDIR(status.st_mode))
    rights &= file_rights;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = fd.get();
  if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
    return fail_errno("add a Landlock rule for", path);
  return {};
}

} // namespace

int landlock_abi() {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

Result<UniqueFd> make_landlock_ruleset(const LandlockPaths& paths) {
  const int abi = landlock_abi();
  if (abi == 0)
    return fail(ErrorKind::unsupported, "this kernel offers no Landlock",
                "boot a kernel >= 5.13 with lsm=landlock,... ; in a container, use a seccomp "
                "profile that permits the landlock_* system calls");
  RulesetAttr attr{handled_fs(abi), abi >= 4 ? net_bind_connect_tcp : 0,
                   abi >= 6 ? scope_abstract_socket_signal : 0};
  const std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  UniqueFd ruleset{static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attr, size, 0))};
  if (!ruleset)
    return fail_errno("create a Landlock ruleset");
  for (const auto& path : paths.read_execute)
    KW_CHECK(add_path(ruleset.get(), path, read_rights & attr.fs));
  for (const auto& path : paths.read_write)
    KW_CHECK(add_path(ruleset.get(), path, (read_rights | write_rights) & attr.fs));
  return ruleset;
}

int restrict_with_landlock(int ruleset_fd) noexcept {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return errno;
  if (::syscall(SYS_landlock_restrict_self, ruleset_fd, 0) != 0)
    return errno;
  return 0;
}

} // namespace kw
