// SPDX-License-Identifier: Apache-2.0
#include "os/sandbox_cgroup.hpp"

#include "os/system_error.hpp"
#include "os/unique_fd.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace kw {
namespace {

constexpr std::string_view prefix = "kernwright-";

bool write_text(const std::string& path, const std::string& text) {
  const UniqueFd fd{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

struct Hierarchy {
  std::string folder; ///< this process's own group
  bool v2 = false;
};

/// cgroups(7): lines "id:controllers:path"; an empty controller list is v2.
std::vector<Hierarchy> own_groups() {
  std::vector<Hierarchy> found;
  std::ifstream file{"/proc/self/cgroup"};
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1) == "/" ? "" : line.substr(second + 1);
    if (controllers.empty()) {
      const bool pure = exists("/sys/fs/cgroup/cgroup.controllers");
      found.push_back({(pure ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified") + path, true});
    } else if (controllers == "memory" || controllers == "pids") {
      found.push_back({"/sys/fs/cgroup/" + controllers + path, false});
    }
  }
  return found;
}

void remove_leftovers(const std::string& folder) {
  DIR* listing = ::opendir(folder.c_str());
  if (listing == nullptr)
    return;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix))
      continue;
    const long owner = std::strtol(name.substr(prefix.size()).data(), nullptr, 10);
    if (owner > 0 && ::kill(static_cast<pid_t>(owner), 0) != 0 && errno == ESRCH)
      ::rmdir((folder + "/" + entry->d_name).c_str()); // fails as long as something lives in it
  }
  ::closedir(listing);
}

} // namespace

Result<SandboxCgroup> SandboxCgroup::create(std::uint64_t memory_bytes, std::uint64_t processes) {
  static std::atomic<unsigned> serial{0};
  const std::string name =
      std::string{prefix} + std::to_string(::getpid()) + "-" + std::to_string(serial++);
  SandboxCgroup cgroup;
  for (const Hierarchy& own : own_groups()) {
    remove_leftovers(own.folder);
    const std::string group = own.folder + "/" + name;
    if (::mkdir(group.c_str(), 0755) != 0)
      continue;
    cgroup.groups_.push_back(group);
    const std::string memory = std::to_string(memory_bytes), count = std::to_string(processes);
    // Only the files of enabled controllers exist; a limit that cannot be set is not there.
    if (own.v2) {
      write_text(group + "/memory.max", memory);
      write_text(group + "/memory.oom.group", "1");
    } else {
      write_text(group + "/memory.limit_in_bytes", memory);
    }
    write_text(group + "/pids.max", count);
    const bool kills = own.v2 && exists(group + "/cgroup.kill");
    if (kills)
      cgroup.kind_ = CgroupKind::v2;
    else if (!own.v2 && cgroup.kind_ == CgroupKind::none)
      cgroup.kind_ = CgroupKind::v1;
  }
  if (cgroup.kind_ == CgroupKind::none)
    return fail(ErrorKind::unsupported, "no control group can be made here",
                "run as root or in a delegated group (systemd-run --user -p Delegate=yes)");
  return cgroup;
}

SandboxCgroup::SandboxCgroup(SandboxCgroup&& other) noexcept {
  *this = std::move(other);
}

SandboxCgroup& SandboxCgroup::operator=(SandboxCgroup&& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(groups_, other.groups_);
  return *this;
}

SandboxCgroup::~SandboxCgroup() {
  for (const std::string& group : groups_)
    write_text(group + "/cgroup.kill", "1");
  // The kernel lets go of a dead process a moment after it was reaped.
  constexpr useconds_t pause_us = 500;
  for (const std::string& group : groups_)
    for (int attempt = 0; attempt < 100 && ::rmdir(group.c_str()) != 0 && errno == EBUSY; ++attempt)
      ::usleep(pause_us);
}

Status SandboxCgroup::add(pid_t pid) const {
  for (const std::string& group : groups_)
    if (!write_text(group + "/cgroup.procs", std::to_string(pid)))
      return fail_errno("move a process into", group);
  return {};
}

std::vector<pid_t> SandboxCgroup::processes() const {
  std::vector<pid_t> out;
  for (const std::string& group : groups_) {
    std::ifstream list{group + "/cgroup.procs"};
    for (pid_t pid = 0; list >> pid;)
      if (pid != 0 && std::find(out.begin(), out.end(), pid) == out.end())
        out.push_back(pid);
  }
  return out;
}

Result<std::vector<UniqueFd>> SandboxCgroup::entrances() const {
  std::vector<UniqueFd> out;
  for (const std::string& group : groups_) {
    const std::string path = group + "/cgroup.procs";
    out.emplace_back(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!out.back())
      return fail_errno("open", path);
  }
  return out;
}

} // namespace kw
