// SPDX-License-Identifier: Apache-2.0
#include "arm.hpp"

#include "runner/doorbell.hpp"
#include "trampoline.hpp"

#include <algorithm>

namespace kw::child {
namespace {

/// Spins for ever, or a little and then sleeps.
std::uint32_t wait_for_go(const Arm& arm, std::uint32_t seen) {
  constexpr int spins_before_sleep = 1000; // about 25 us: covers the gap between prepare and call
  for (int spins = 0;;) {
    const std::uint32_t go = arm.judge->go.load(std::memory_order_acquire);
    if (go != seen)
      return go;
    doorbell::pause();
    if (arm.judge->spin != 0 || ++spins < spins_before_sleep)
      continue;
    arm.shared->sleeping.store(1, std::memory_order_seq_cst);
    if (arm.judge->go.load(std::memory_order_seq_cst) == seen)
      doorbell::sleep(arm.judge->go, seen);
    arm.shared->sleeping.store(0, std::memory_order_seq_cst);
  }
}

/// Argument block to registers and stack, in the order of the C prototype.
void fill_frame(const Arm& arm, CallFrame& frame,
                std::array<std::uint64_t, protocol::max_arguments>& stack) {
  const protocol::JudgePage& call = *arm.judge;
  std::size_t integers = 0, vectors = 0, in_memory = 0;
  const std::uint32_t count = std::min<std::uint32_t>(call.argument_count, protocol::max_arguments);
  for (std::uint32_t i = 0; i < count; ++i) {
    const protocol::Argument& argument = call.arguments[i];
    std::uint64_t bits = argument.bits;
    const std::uint32_t place = std::min<std::uint32_t>(argument.index, protocol::max_buffers - 1);
    if (argument.kind == protocol::Argument::input)
      bits = reinterpret_cast<std::uint64_t>(arm.inputs + call.inputs[place].offset);
    else if (argument.kind == protocol::Argument::output)
      bits = reinterpret_cast<std::uint64_t>(arm.outputs + call.outputs[place].offset);
    const bool floating = argument.kind == protocol::Argument::float32 ||
                          argument.kind == protocol::Argument::float64;
    if (floating && vectors < frame.vectors.size())
      frame.vectors[vectors++] = bits;
    else if (!floating && integers < frame.integers.size())
      frame.integers[integers++] = bits;
    else
      stack[in_memory++] = bits;
  }
  frame.stack_count = in_memory;
  frame.stack = stack.data();
  frame.stack_top = arm.stack + arm.stack_bytes - 64;
  frame.function = arm.entries[std::min<std::size_t>(call.entry, arm.entry_count - 1)];
}

std::uint32_t state_flags(const CallFrame& frame) {
  constexpr std::uint32_t mxcsr_status = 0x3f; // sticky exception flags: any arithmetic sets them
  constexpr std::uint64_t direction_flag = 1 << 10;
  std::uint32_t flags = 0;
  if ((frame.mxcsr & ~mxcsr_status) != default_mxcsr)
    flags |= protocol::state_mxcsr;
  if (frame.x87_control != default_x87_control)
    flags |= protocol::state_x87;
  if ((frame.flags & direction_flag) != 0)
    flags |= protocol::state_direction;
  if (frame.callee_saved != callee_saved_marks)
    flags |= protocol::state_callee_saved;
  if (frame.rsp_after != frame.rsp_before)
    flags |= protocol::state_stack_pointer;
  return flags;
}

} // namespace

void serve(const Arm& arm, std::uint32_t seen) {
  static CallFrame frame;
  static std::array<std::uint64_t, protocol::max_arguments> stack;
  for (;;) {
    const std::uint32_t go = wait_for_go(arm, seen);
    seen = go;
    if (go % 2 == 1) {
      prepare_call(arm);
      fill_frame(arm, frame, stack);
    } else {
      kw_trampoline(&frame);
      arm.shared->return_code = static_cast<std::int32_t>(frame.result);
      arm.shared->mxcsr = frame.mxcsr;
      arm.shared->x87 = frame.x87_control;
      arm.shared->state_flags = state_flags(frame);
    }
    doorbell::ring(arm.shared->done, go, arm.judge->sleeping);
  }
}

} // namespace kw::child
