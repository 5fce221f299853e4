// SPDX-License-Identifier: Apache-2.0
// The life of one arm: map the shared memory, close the sandbox, load, serve until killed.
#pragma once

#include "os/sandbox_seccomp.hpp"
#include "runner/protocol.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace kw::child {

/// What the zygote prepares once for all its children.
struct Sandbox {
  int landlock_ruleset = -1;
  SeccompProgram load, kernel;
};

/// Everything a serving arm knows. One per process, because the fault handler needs to find it.
struct Arm {
  const protocol::JudgePage* judge = nullptr;
  protocol::ArmPage* shared = nullptr;
  std::byte* outputs = nullptr; ///< the inputs lie directly behind them
  std::byte* inputs = nullptr;  ///< read-only, inaccessible outside the current layout
  std::size_t input_bytes = 0, output_bytes = 0;
  std::byte* stack = nullptr; ///< lowest usable byte of the kernel's stack
  std::size_t stack_bytes = 0;
  std::vector<const void*> entries;
};

/// A start message, decoded. Descriptors: judge page, arm page, inputs, outputs [, object].
struct Start {
  protocol::StartRequest request{};
  std::string object;
  std::vector<std::string> entries;
  std::vector<int> descriptors;
};

/// False when the message is malformed.
bool decode_start(const std::string& bytes, std::vector<int> descriptors, Start& start);

/// Never returns. `sandbox` is null for trusted arms.
[[noreturn]] void run_arm(const Start& start, const Sandbox* sandbox);

/// confine.cpp: everything before threads exist, then the filter for loading, then the final one.
/// 0 or an errno value.
int confine_before_threads(const protocol::StartRequest& request, const Sandbox& sandbox);
int confine_for_loading(const protocol::StartRequest& request, const Sandbox& sandbox);
int confine_for_serving(const Arm& arm, const protocol::StartRequest& request,
                        const Sandbox& sandbox);

/// prepare.cpp: the untimed phase of a call.
void prepare_call(Arm& arm);
int reserve_eviction_pages(); ///< 0 or an errno value

/// serve.cpp: waits for the doorbell for ever.
[[noreturn]] void serve(Arm& arm);

/// fault.cpp: notes where a crash happened, for the report's text, and lets it happen.
void install_fault_notes(protocol::ArmPage* shared);

/// parallel.cpp: starts threads - 1 workers. 0 or an errno value.
int start_workers(int threads);

/// workspace.cpp
int reserve_workspace(std::size_t bytes); ///< 0 or an errno value
void poison_workspace(std::uint32_t pattern);
[[nodiscard]] std::byte* workspace_base();
[[nodiscard]] std::size_t workspace_used(); ///< largest size asked for so far

/// Says why loading failed and ends the process.
[[noreturn]] void give_up(protocol::ArmPage* shared, int exit_code, const char* what,
                          const char* why);

} // namespace kw::child
