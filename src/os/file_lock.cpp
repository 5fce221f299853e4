// SPDX-License-Identifier: Apache-2.0
#include "os/file_lock.hpp"

#include "os/files.hpp"
#include "os/system_error.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <thread>

namespace kw {

Result<FileLock> FileLock::acquire(const std::string& path, const std::string& purpose,
                                   std::chrono::milliseconds wait, Mode mode) {
  using Steady = std::chrono::steady_clock;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd && errno == EACCES) // another user's, as in /tmp: a lock needs no right to write
    fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd)
    return fail_errno("open lock file", path);
  const int operation = (mode == Mode::exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  const auto deadline = Steady::now() + wait;
  std::chrono::milliseconds pause{1};
  while (::flock(fd.get(), operation) != 0) {
    if (errno == EINTR)
      continue;
    if (errno != EWOULDBLOCK)
      return fail_errno("lock", path);
    if (Steady::now() >= deadline) {
      const std::string holder = lock_holder(path);
      return fail(
          ErrorKind::timeout,
          fmt::format("{} is locked by {}", path, holder.empty() ? "another process" : holder),
          "wait until it has finished, or stop it; the lock goes with its process");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds{50});
  }
  if (mode == Mode::exclusive) {
    // Information only: a lock on a full disk is still a lock.
    const std::string text = fmt::format("process {} ({})\n", ::getpid(), purpose);
    if (::ftruncate(fd.get(), 0) == 0)
      (void)write_all(fd.get(), text, path);
  }
  return FileLock(std::move(fd));
}

std::string lock_holder(const std::string& path) {
  Result<std::string> text = read_file(path, 4096);
  if (!text)
    return {};
  return text->substr(0, text->find('\n'));
}

} // namespace kw
