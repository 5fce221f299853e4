// SPDX-License-Identifier: Apache-2.0
#include "os/files.hpp"

#include "os/random.hpp"
#include "os/system_error.hpp"
#include "os/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace kw {
namespace fs = std::filesystem;

namespace {

/// Makes a rename or creation in `folder` durable.
Status sync_folder(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd)
    return fail_errno("open folder", folder);
  // Some file systems cannot fsync a folder (EINVAL); they order renames themselves.
  if (::fsync(fd.get()) != 0 && errno != EINVAL)
    return fail_errno("sync folder", folder);
  return {};
}

} // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  // O_NONBLOCK: opening a FIFO somebody put there must not hang.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd)
    return fail_errno("read", path);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0)
    return fail_errno("read", path);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorKind::invalid_input, fmt::format("{} is not a regular file", path),
                "name a file");
  std::string out;
  const auto too_large = [&] {
    return fail(ErrorKind::invalid_input,
                fmt::format("{} is larger than the {} bytes accepted here", path, max_bytes),
                "split the file, or check that it is the one you meant");
  };
  if (static_cast<std::uint64_t>(info.st_size) > max_bytes)
    return too_large();
  // /proc files say 0 bytes: read until the end, whatever the size said.
  out.resize(static_cast<std::size_t>(info.st_size) + 1);
  std::size_t used = 0;
  while (true) {
    if (used == out.size())
      out.resize(std::max<std::size_t>(out.size() * 2, 4096));
    const ssize_t n = ::read(fd.get(), out.data() + used, out.size() - used);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail_errno("read", path);
    if (n == 0)
      break;
    used += static_cast<std::size_t>(n);
    if (used > max_bytes)
      return too_large();
  }
  out.resize(used);
  return out;
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail_errno("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status write_file_atomic(const std::string& path, std::string_view content, unsigned mode) {
  // In the same folder, so that the rename stays within one file system.
  const std::string folder = parent_path(path);
  const std::string temporary =
      join_path(folder, fmt::format(".{}.{}.tmp", base_name(path).substr(0, 100), random_hex(8)));
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd)
    return fail_errno("write", path);
  const auto give_up = [&](Error error) {
    ::unlink(temporary.c_str());
    return fail(std::move(error));
  };
  if (Status written = write_all(fd.get(), content, path); !written)
    return give_up(std::move(written.error()));
  if (::fsync(fd.get()) != 0)
    return give_up(system_error(errno, "write", path));
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return give_up(system_error(errno, "write", path));
  return sync_folder(folder);
}

Status append_line_durable(const std::string& path, std::string_view line) {
  KW_ASSERT(line.find('\n') == std::string_view::npos);
  const bool existed = is_file(path);
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd)
    return fail_errno("append to", path);
  while (::flock(fd.get(), LOCK_EX) != 0)
    if (errno != EINTR)
      return fail_errno("lock", path);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0)
    return fail_errno("append to", path);
  std::string text;
  char last = '\n';
  if (info.st_size > 0 && ::pread(fd.get(), &last, 1, info.st_size - 1) != 1)
    return fail_errno("read", path);
  if (last != '\n')
    text += '\n';
  text += line;
  text += '\n';
  const auto cut_off = [&](Error error) {
    // Best effort: if it fails too, the next append closes the torn line.
    [[maybe_unused]] const int ignored = ::ftruncate(fd.get(), info.st_size);
    return fail(std::move(error));
  };
  if (Status written = write_all(fd.get(), text, path); !written)
    return cut_off(std::move(written.error()));
  if (::fdatasync(fd.get()) != 0)
    return cut_off(system_error(errno, "append to", path));
  return existed ? Status{} : sync_folder(parent_path(path));
}

Status make_dirs(const std::string& path) {
  if (path.empty())
    return fail(ErrorKind::invalid_input, "the name of the folder is empty",
                "name a folder; `.` is the current one");
  std::error_code ec;
  fs::create_directories(path, ec);
  if (ec)
    return fail(system_error(ec.value(), "create folder", path));
  if (!is_dir(path))
    return fail(system_error(ENOTDIR, "create folder", path));
  return {};
}

Result<std::vector<TreeEntry>> list_tree(const std::string& root, std::size_t max_entries) {
  std::error_code ec;
  std::vector<TreeEntry> out;
  fs::recursive_directory_iterator it(root, ec);
  if (ec)
    return fail(system_error(ec.value(), "list", root));
  for (; it != fs::recursive_directory_iterator(); it.increment(ec)) {
    const fs::file_status status = it->symlink_status(ec);
    if (!ec && fs::is_regular_file(status)) {
      if (out.size() == max_entries)
        return fail(ErrorKind::invalid_input,
                    fmt::format("{} holds more than {} files", root, max_entries),
                    "name a smaller folder");
      const std::uint64_t bytes = it->file_size(ec);
      // A file that vanished meanwhile is simply not listed.
      if (!ec)
        out.push_back({it->path().lexically_relative(root).generic_string(), bytes});
    }
    ec.clear();
  }
  if (ec)
    return fail(system_error(ec.value(), "list", root));
  std::sort(out.begin(), out.end(),
            [](const TreeEntry& a, const TreeEntry& b) { return a.path < b.path; });
  return out;
}

Status remove_tree(const std::string& path) {
  std::error_code ec;
  fs::remove_all(path, ec);
  if (ec)
    return fail(system_error(ec.value(), "remove", path));
  return {};
}

bool is_file(const std::string& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec);
}

bool is_dir(const std::string& path) {
  std::error_code ec;
  return fs::is_directory(path, ec);
}

std::string join_path(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/'))
    return std::string(name);
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

std::string parent_path(const std::string& path) {
  std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string base_name(const std::string& path) {
  return fs::path(path).filename().string();
}

} // namespace kw
