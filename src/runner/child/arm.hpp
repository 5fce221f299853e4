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

/// Everything a serving arm knows, in memory that candidates cannot write (Fixed).
struct Arm {
  const protocol::JudgePage* judge = nullptr;
  protocol::ArmPage* shared = nullptr;
  std::byte* outputs = nullptr; ///< the inputs lie directly behind them
  std::byte* inputs = nullptr;  ///< read-only, inaccessible outside the current layout
  std::size_t input_bytes = 0, output_bytes = 0;
  std::byte* stack = nullptr; ///< lowest usable byte of the kernel's stack
  std::size_t stack_bytes = 0;
  std::byte* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  const std::byte* eviction_region = nullptr; ///< pages that fill the TLB
  std::array<const void*, protocol::max_entries> entries{};
  std::size_t entry_count = 0;
};

/// What a thread needs to begin anew when a kernel may have changed every register and all writable
/// memory: whole pages of their own, made read-only before the first call. Offsets of the first
/// fields are used in assembly.
struct alignas(protocol::page) Fixed {
  std::uint64_t threads = 1;
  std::uint64_t sets_fs = 0;                                  ///< the CPU lets programs move fs
  const std::uint32_t* nonce = nullptr;                       ///< in the judge's page
  std::array<std::uint64_t, protocol::max_threads> stack{};   ///< where each thread begins
  std::array<std::uint64_t, protocol::max_threads> fs_base{}; ///< thread-local storage
  Arm arm;
};
extern "C" Fixed kw_fixed;

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
void prepare_call(const Arm& arm);
int reserve_eviction_pages(Arm& arm); ///< 0 or an errno value

/// serve.cpp: waits for the doorbell for ever, for other values than `seen`.
[[noreturn]] void serve(const Arm& arm, std::uint32_t seen);

/// reset.cpp
void remember_thread(std::size_t number); ///< of the calling thread: 0 = main, then the workers
int accept_resets();                      ///< 0 or an errno value
int protect_fixed();                      ///< 0 or an errno value

/// fault.cpp: notes where a crash happened, for the report's text, and lets it happen.
void install_fault_notes(protocol::ArmPage* shared);

/// parallel.cpp: starts threads - 1 workers. 0 or an errno value.
int start_workers(int threads);
/// After a reset: by the main thread while all workers wait; and what a worker does then, for ever.
void forget_jobs();
[[noreturn]] void work_for_ever();

/// workspace.cpp
int reserve_workspace(Arm& arm, std::size_t bytes); ///< 0 or an errno value
void poison_workspace(const Arm& arm, std::uint32_t pattern);
[[nodiscard]] std::size_t workspace_used(const Arm& arm); ///< largest size asked for so far

/// Says why loading failed and ends the process.
[[noreturn]] void give_up(protocol::ArmPage* shared, int exit_code, const char* what,
                          const char* why);

} // namespace kw::child
