// SPDX-License-Identifier: Apache-2.0
#include "runner/fault_text.hpp"
#include "runner/launch.hpp"

#include "os/process.hpp"

#include <csignal>
#include <cstring>
#include <fmt/core.h>

namespace kw {
namespace {

/// Text from the arm's page: printable characters only, whatever the arm put there.
std::string message_of(const protocol::ArmPage& shared) {
  std::array<char, protocol::message_bytes> copy{};
  std::memcpy(copy.data(), shared.message.data(), copy.size() - 1);
  std::string text = copy.data();
  for (char& c : text)
    if (c < ' ' || c > '~')
      c = '?';
  return text;
}

} // namespace

void describe_end(const Arm::State& arm, int signal, int exit_code, bool killed, CallEnd& end,
                  int& report_signal, std::string& detail) {
  const protocol::ArmPage& shared = *arm.shared;
  if (!killed) {
    end = CallEnd::exited;
    detail = message_of(shared);
    if (detail.empty())
      detail = fmt::format("the process ended by itself with exit code {}", exit_code);
    return;
  }
  report_signal = signal;
  if (signal == SIGSYS) {
    end = CallEnd::violation;
    detail = "a system call that kernels may not make";
    return;
  }
  end = CallEnd::crashed;
  FaultNote note;
  note.signal = signal;
  note.noted_signal = shared.fault_signal;
  note.write = shared.fault_write != 0;
  note.address = shared.fault_address;
  note.input_base = shared.input_base;
  note.output_base = shared.output_base;
  note.stack_base = shared.stack_base;
  note.stack_bytes = shared.stack_bytes;
  note.workspace_base = shared.workspace_base;
  note.workspace_bytes = shared.workspace_bytes;
  detail = describe_fault(note, arm.core->staged, arm.plan);
}

} // namespace kw
