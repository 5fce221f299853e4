// SPDX-License-Identifier: Apache-2.0
// What the judge and kernwright-runner share: two pages and one start message. Python arms speak it
// too (python/kernwright_peer.py), so the offsets are fixed and asserted.
//
// Every call has two phases, each one step of the `go` counter, so that only the kernel is timed:
//   odd  `go`: prepare (guards, poison, warm or evict)   -> the arm sets done = go
//   even `go`: call the entry                            -> the arm sets done = go
// A side that is about to sleep says so in its `sleeping` word; the other side makes the futex
// system call only then, so two spinning sides exchange two cache lines and nothing else.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kw::protocol {

inline constexpr std::uint32_t magic = 0x4b57'5231; // "KWR1"
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t max_buffers = 48; ///< inputs, and as many outputs
inline constexpr std::size_t max_arguments = 96;
inline constexpr std::size_t max_entries = 16;
inline constexpr std::size_t max_names = 8192; ///< bytes of all strings of a start message
inline constexpr std::size_t page = 4096;
inline constexpr std::size_t stack_guard = std::size_t{1}
                                           << 20; ///< inaccessible, below and above the stack
inline constexpr std::size_t message_bytes = 512;
inline constexpr std::uint32_t max_threads = 1024; ///< of an arm
/// Sent to every thread of a stopped candidate arm, with the thread's number as value: it drops
/// whatever it was doing and begins the runner's loop anew (child/reset.cpp).
inline constexpr int reset_signal = 10; // SIGUSR1

/// Bytes [offset, offset + bytes) of an arena. Whole pages around it are accessible, no others.
struct Place {
  std::uint64_t offset, bytes;
};

struct Argument {
  enum Kind : std::uint32_t { input, output, integer, float32, float64 };
  std::uint32_t kind, index; ///< index: of the place, for input and output
  std::uint64_t bits;        ///< integer value or floating bit pattern
};

/// Judge to arm; the arm maps it read-only.
struct JudgePage {
  std::uint32_t magic, version;
  std::uint32_t spin;                  ///< the arm never sleeps while it waits for `go`
  std::atomic<std::uint32_t> sleeping; ///< the judge sleeps on `done`
  std::array<std::uint32_t, 12> pad0;
  alignas(64) std::atomic<std::uint32_t> go;
  std::array<std::uint32_t, 15> pad1;
  // of the call:
  std::uint32_t entry, warm, evict, poison;
  std::uint32_t input_count, output_count, argument_count,
      nonce;                                 ///< nonce: of this call, never guessed
  std::uint64_t input_layout, output_layout; ///< change whenever the places do
  std::array<std::uint64_t, 4> pad2;
  std::array<Place, max_buffers> inputs, outputs;
  std::array<Argument, max_arguments> arguments;
};

/// What the trampoline found after the call; any bit rejects the candidate, none accepts it.
enum StateFlag : std::uint32_t {
  state_mxcsr = 1,
  state_x87 = 2,
  state_direction = 4,
  state_callee_saved = 8,
  state_stack_pointer = 16,
};

/// Arm to judge; the arm may write anything here at any time.
struct ArmPage {
  std::atomic<std::uint32_t> done;
  std::array<std::uint32_t, 15> pad0;
  alignas(64) std::atomic<std::uint32_t> sleeping; ///< the arm sleeps on `go`
  std::int32_t return_code;
  std::uint32_t state_flags, mxcsr, x87, loaded;
  // Advice for the text of a crash report only:
  std::uint32_t fault_signal, fault_write;
  std::uint64_t fault_address;
  std::uint64_t input_base, output_base, stack_base, stack_bytes, workspace_base, workspace_bytes;
  std::array<char, message_bytes> message; ///< why loading failed
};

static_assert(sizeof(std::atomic<std::uint32_t>) == 4);
static_assert(offsetof(JudgePage, sleeping) == 12 && offsetof(JudgePage, go) == 64);
static_assert(offsetof(JudgePage, entry) == 128 && offsetof(JudgePage, nonce) == 156 &&
              offsetof(JudgePage, input_layout) == 160);
static_assert(offsetof(JudgePage, inputs) == 208 && offsetof(JudgePage, outputs) == 976);
static_assert(offsetof(JudgePage, arguments) == 1744 && sizeof(JudgePage) <= page);
static_assert(offsetof(ArmPage, sleeping) == 64 && offsetof(ArmPage, return_code) == 68);
static_assert(offsetof(ArmPage, loaded) == 84 && offsetof(ArmPage, message) == 152);
static_assert(sizeof(ArmPage) <= page);

/// Facilities an arm must close before it loads anything; one that fails ends the arm.
enum Confine : std::uint32_t {
  confine_namespaces = 1,
  confine_landlock = 2,
  confine_seccomp = 4,
  confine_always = 8
};

/// `go` at the start, and `done` of an arm that has loaded; the first call is 3 (prepare), 4
/// (call).
inline constexpr std::uint32_t loaded_sequence = 2;

/// Exit codes of an arm before it serves.
enum ArmExit : int { exit_load_failed = 41, exit_confine_failed = 42, exit_protocol = 43 };

/// Start message, one datagram: this header, then `names_bytes` bytes of NUL-terminated strings
/// (object path or empty, then the entries), with the descriptors judge page, arm page, inputs,
/// outputs [, object] attached. No entry at all means the built-in empty kernel.
struct StartRequest {
  std::uint32_t magic, version;
  std::uint32_t confine; ///< Confine bits; 0 = trusted
  std::uint32_t threads;
  std::int32_t cpu; ///< pin to this CPU, -1 = do not
  std::uint32_t has_object;
  std::uint64_t input_bytes, output_bytes, workspace_bytes;
  std::uint32_t entries, names_bytes;
};

/// The zygote's answer, with the pidfd attached; error is an errno value.
struct StartReply {
  std::int32_t pid, error;
};

} // namespace kw::protocol
