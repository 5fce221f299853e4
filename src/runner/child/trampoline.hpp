// SPDX-License-Identifier: Apache-2.0
// Calls a kernel on its own stack with a known CPU state, and records the state it leaves behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kw::child {

/// Filled by the caller above the line, by the trampoline below it. Offsets are used in assembly.
struct CallFrame {
  const void* function = nullptr;
  std::array<std::uint64_t, 6> integers{}; ///< rdi rsi rdx rcx r8 r9
  std::array<std::uint64_t, 8> vectors{};  ///< low halves of xmm0..7
  std::uint64_t stack_count = 0;           ///< 8-byte arguments passed in memory
  const std::uint64_t* stack = nullptr;
  void* stack_top = nullptr; ///< 16-byte aligned
  // ----
  std::uint64_t result = 0;
  std::array<std::uint64_t, 6> callee_saved{}; ///< rbx rbp r12 r13 r14 r15 after the call
  std::uint64_t rsp_after = 0, rsp_before = 0;
  std::uint64_t flags = 0;
  std::uint32_t mxcsr = 0;
  std::uint16_t x87_control = 0;
};
static_assert(offsetof(CallFrame, stack_count) == 120 && offsetof(CallFrame, result) == 144);
static_assert(offsetof(CallFrame, rsp_after) == 200 && offsetof(CallFrame, flags) == 216);
static_assert(offsetof(CallFrame, mxcsr) == 224 && offsetof(CallFrame, x87_control) == 228);

/// What the trampoline puts into the callee-saved registers.
inline constexpr std::array<std::uint64_t, 6> callee_saved_marks{
    0x6b77'0001'5a5a'0001, 0x6b77'0002'5a5a'0002, 0x6b77'0003'5a5a'0003,
    0x6b77'0004'5a5a'0004, 0x6b77'0005'5a5a'0005, 0x6b77'0006'5a5a'0006};

inline constexpr std::uint32_t default_mxcsr = 0x1f80;
inline constexpr std::uint16_t default_x87_control = 0x037f; // as after fninit

extern "C" void kw_trampoline(CallFrame* frame);
extern "C" std::uint8_t kw_trampoline_has_avx; ///< set once at start: vzeroupper after the call

} // namespace kw::child
