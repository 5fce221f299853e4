// SPDX-License-Identifier: Apache-2.0
#include "runner/call.hpp"
#include "runner/session_core.hpp"

#include "os/files.hpp"
#include "os/sandbox_freeze.hpp"

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

} // namespace kw
