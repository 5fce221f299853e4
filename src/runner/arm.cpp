// SPDX-License-Identifier: Apache-2.0
#include "runner/call.hpp"
#include "runner/session_core.hpp"

#include "os/files.hpp"
#include "os/sandbox_freeze.hpp"

#include <charconv>
#include <dirent.h>

namespace kw {

Arm::Arm(std::unique_ptr<State> state) : state_(std::move(state)) {}
Arm::Arm(Arm&&) noexcept = default;

Arm& Arm::operator=(Arm&& other) noexcept {
  std::swap(state_, other.state_); // the old process is killed with `other`
  return *this;
}

Arm::~Arm() {
  if (state_ && state_->running)
    kill_child(state_->process.pid);
}

bool Arm::alive() const {
  return state_ && state_->running;
}
double Arm::last_stop_ns() const {
  return state_ ? state_->last_stop_ns : 0;
}
Doorbell Arm::doorbell() const {
  return state_ && state_->spin ? Doorbell::spin : Doorbell::futex;
}
int Arm::pid() const {
  return state_ ? static_cast<int>(state_->process.pid) : -1;
}

Result<CallReport> Arm::call(const Invocation& invocation) {
  if (!alive())
    return fail(ErrorKind::infrastructure, "the kernel's process is gone",
                "spawn a new arm after a crash, an exit or a timeout");
  return call_arm(*state_, invocation);
}

std::uint64_t Arm::involuntary_switches() const {
  if (!alive())
    return 0;
  const std::string tasks = "/proc/" + std::to_string(pid()) + "/task";
  DIR* folder = ::opendir(tasks.c_str());
  if (folder == nullptr)
    return 0;
  std::uint64_t total = 0;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] == '.')
      continue;
    const auto text = read_proc_file(tasks + "/" + entry->d_name + "/status");
    constexpr std::string_view key = "nonvoluntary_ctxt_switches:";
    const std::size_t at = text.find(key);
    if (at == std::string::npos)
      continue;
    const std::size_t digits = text.find_first_of("0123456789", at + key.size());
    std::uint64_t count = 0;
    if (digits != std::string::npos)
      std::from_chars(text.data() + digits, text.data() + text.size(), count);
    total += count;
  }
  ::closedir(folder);
  return total;
}

} // namespace kw
