// SPDX-License-Identifier: Apache-2.0
// After a candidate: what it left behind, and whether the machine still serves the next one. In the
// higher tiers nothing can be left (a pid namespace dies with its first process, filters forbid the
// rest); this is how one would know.
#include "os/files.hpp"
#include "runner/session_core.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <dirent.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/shm.h>

namespace kw {
namespace {

struct ProcessFacts {
  std::string name;
  pid_t parent = 0, group = 0;
  bool dead = true; ///< a zombie, or gone
};

/// proc(5), stat: "pid (name) state ppid pgrp ..."; the name may hold anything.
ProcessFacts facts_of(pid_t pid) {
  ProcessFacts out;
  // It may end between two reads.
  const Result<std::string> read = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text = read.value_or("");
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos)
    return out;
  out.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  char state = 'X';
  rest >> state >> out.parent >> out.group;
  out.dead = state == 'Z' || state == 'X';
  return out;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> out;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr)
    return out;
  while (const dirent* entry = ::readdir(folder))
    if (const long pid = std::strtol(entry->d_name, nullptr, 10); pid > 0)
      out.push_back(static_cast<pid_t>(pid));
  ::closedir(folder);
  return out;
}

/// Segments made by one of these processes: proc_sysvipc, "key shmid perms size cpid ...".
std::vector<int> segments_of(const std::vector<pid_t>& makers) {
  std::vector<int> out;
  std::ifstream file("/proc/sysvipc/shm");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    long key = 0, id = 0, permissions = 0, size = 0, maker = 0;
    if (fields >> key >> id >> permissions >> size >> maker &&
        std::find(makers.begin(), makers.end(), static_cast<pid_t>(maker)) != makers.end())
      out.push_back(static_cast<int>(id));
  }
  return out;
}

} // namespace

std::vector<std::string> Session::remove_leftovers() {
  std::vector<std::string> found;
  SessionCore& core = *core_;
  if (core.zygote) {
    // Arms are children of this process; what an arm started is not, and never will be.
    const pid_t zygote = core.zygote->pid();
    const std::vector<pid_t> inside = core.zygote->group_processes();
    for (const pid_t pid : core.zygote->in_cgroup() ? inside : all_processes()) {
      const ProcessFacts facts = facts_of(pid);
      const bool ours = core.zygote->in_cgroup() || facts.group == zygote;
      if (!ours || facts.dead || pid == zygote || facts.parent == ::getpid())
        continue;
      ::kill(pid, SIGKILL);
      found.push_back(fmt::format("a process (`{}`)", facts.name));
    }
  }
  if ((core.confine & protocol::confine_namespaces) == 0) // else the segments are gone with it
    for (const int id : segments_of(core.candidates)) {
      ::shmctl(id, IPC_RMID, nullptr);
      found.emplace_back("a shared memory segment");
    }
  core.candidates.clear();
  return found;
}

Status Session::serves() {
  LoadReport load;
  KW_TRY(Arm arm, spawn(ArmSpec{}, load)); // the built-in empty kernel
  if (load.end != CallEnd::returned)
    return fail(ErrorKind::infrastructure, "a fresh process does not start: " + load.detail,
                "run `kernwright doctor`; the machine may be out of memory or processes");
  KW_TRY(const auto views, stage({}, Placement::end_aligned, 0));
  (void)views;
  Invocation empty;
  empty.warm = false;
  KW_TRY(const CallReport report, arm.call(empty));
  if (report.end != CallEnd::returned)
    return fail(ErrorKind::infrastructure, "a fresh process does not answer: " + report.detail,
                "run `kernwright doctor`; the machine may be overloaded");
  return {};
}

} // namespace kw
