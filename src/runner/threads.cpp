// SPDX-License-Identifier: Apache-2.0
#include "runner/call.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kw {

std::vector<pid_t> list_threads(pid_t pid) {
  std::vector<pid_t> out;
  DIR* folder = ::opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  if (folder == nullptr)
    return out;
  while (const dirent* entry = ::readdir(folder)) {
    pid_t id = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, id).ptr == end)
      out.push_back(id);
  }
  ::closedir(folder);
  std::sort(out.begin(), out.end(), [pid](pid_t a, pid_t b) {
    return (a != pid) < (b != pid) || ((a != pid) == (b != pid) && a < b);
  });
  return out;
}

bool reset_threads(const Arm::State& arm) {
  for (std::size_t i = 0; i < arm.threads_of.size(); ++i) {
    siginfo_t info{};
    info.si_signo = protocol::reset_signal;
    info.si_code = SI_QUEUE;
    info.si_pid = ::getpid();
    info.si_uid = ::getuid();
    info.si_value.sival_int = static_cast<int>(i);
    if (::syscall(SYS_rt_tgsigqueueinfo, arm.process.pid, arm.threads_of[i], protocol::reset_signal,
                  &info) != 0)
      return false;
  }
  return true;
}

} // namespace kw
