// SPDX-License-Identifier: Apache-2.0
#include "runner/call.hpp"
#include "runner/poison.hpp"

#include "os/random.hpp"

#include <bit>
#include <fmt/core.h>

namespace kw {
namespace {

Status plan_outputs(Arm::State& arm, const Invocation& invocation) {
  if (arm.planned == invocation.placement && arm.planned_bytes == invocation.output_bytes)
    return {};
  KW_TRY(arm.plan, plan_layout(invocation.output_bytes, invocation.placement, arm.outputs.bytes()));
  arm.planned = invocation.placement;
  arm.planned_bytes = invocation.output_bytes;
  ++arm.output_layout;
  return {};
}

Result<protocol::Argument> encode(const Argument& argument, std::size_t inputs,
                                  std::size_t outputs) {
  using Kind = Argument::Kind;
  const bool buffer = argument.kind == Kind::input || argument.kind == Kind::output;
  const std::size_t limit = argument.kind == Kind::input ? inputs : outputs;
  if (buffer && argument.index >= limit)
    return fail(ErrorKind::invalid_input,
                fmt::format("an argument names {} {}, but there are {}",
                            argument.kind == Kind::input ? "input" : "output", argument.index,
                            limit));
  const auto index = static_cast<std::uint32_t>(argument.index);
  switch (argument.kind) {
  case Kind::input:
    return protocol::Argument{protocol::Argument::input, index, 0};
  case Kind::output:
    return protocol::Argument{protocol::Argument::output, index, 0};
  case Kind::integer:
    return protocol::Argument{protocol::Argument::integer, 0,
                              std::bit_cast<std::uint64_t>(argument.integer)};
  case Kind::float32:
    return protocol::Argument{protocol::Argument::float32, 0,
                              std::bit_cast<std::uint32_t>(static_cast<float>(argument.real))};
  case Kind::float64:
    return protocol::Argument{protocol::Argument::float64, 0,
                              std::bit_cast<std::uint64_t>(argument.real)};
  }
  return fail(ErrorKind::invalid_input, "an argument of unknown kind");
}

} // namespace

Status prepare_command(Arm::State& arm, const Invocation& invocation) {
  if (invocation.entry >= arm.entry_count)
    return fail(ErrorKind::invalid_input,
                fmt::format("the arm has {} entries, not one of number {}", arm.entry_count,
                            invocation.entry));
  if (invocation.arguments.size() > protocol::max_arguments)
    return fail(ErrorKind::invalid_input,
                fmt::format("a kernel takes at most {} arguments, not {}", protocol::max_arguments,
                            invocation.arguments.size()));
  const std::uint64_t layout_before = arm.output_layout;
  KW_CHECK(plan_outputs(arm, invocation));
  const bool poison = !arm.resident || arm.output_layout != layout_before;
  const SessionCore& core = *arm.core;
  protocol::JudgePage& page = *arm.judge;
  for (std::size_t i = 0; i < invocation.arguments.size(); ++i) {
    KW_TRY(page.arguments[i], encode(invocation.arguments[i], core.staged.size(), arm.plan.size()));
  }
  page.argument_count = static_cast<std::uint32_t>(invocation.arguments.size());
  page.entry = static_cast<std::uint32_t>(invocation.entry);
  page.warm = invocation.warm ? 1 : 0;
  page.evict = invocation.evict ? 1 : 0;
  page.poison = invocation.poison;
  page.nonce = static_cast<std::uint32_t>(random_u64());
  page.input_layout = core.input_layout;
  page.output_layout = arm.output_layout;
  page.input_count = static_cast<std::uint32_t>(core.staged.size());
  page.output_count = static_cast<std::uint32_t>(arm.plan.size());
  for (std::size_t i = 0; i < core.staged.size(); ++i)
    page.inputs[i] = {core.staged[i].offset, core.staged[i].bytes};
  for (std::size_t i = 0; i < arm.plan.size(); ++i) {
    page.outputs[i] = {arm.plan[i].offset, arm.plan[i].bytes};
    if (poison)
      poison_output(arm.outputs.base(), arm.plan[i], invocation.poison);
    fill_canaries(arm.outputs.base(), arm.plan[i], invocation.canary_key);
  }
  return {};
}

} // namespace kw
