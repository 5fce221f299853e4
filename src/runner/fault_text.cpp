// SPDX-License-Identifier: Apache-2.0
#include "runner/fault_text.hpp"

#include "os/process.hpp"
#include "runner/protocol.hpp"

#include <csignal>
#include <fmt/core.h>

namespace kw {
namespace {

using protocol::page;

/// Where `at`, an offset in the arena, lies relative to the nearest buffer; empty if far from all.
std::string near_buffer(std::uint64_t at, std::span<const BufferSpan> buffers, const char* what,
                        const char* verb) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferSpan& b = buffers[i];
    const std::size_t end = b.offset + b.bytes;
    if (at >= b.offset && at < end)
      return fmt::format("{} {} {} at byte {}", verb, what, i, at - b.offset);
    if (at >= end && at < b.pages_end + page)
      return fmt::format("{} {} bytes past the end of {} {}", verb, at - end, what, i);
    if (at < b.offset && at + page >= b.pages_begin)
      return fmt::format("{} {} bytes before {} {}", verb, b.offset - at, what, i);
  }
  return {};
}

} // namespace

std::string describe_fault(const FaultNote& note, std::span<const BufferSpan> inputs,
                           std::span<const BufferSpan> outputs) {
  std::string text = signal_name(note.signal);
  if (note.noted_signal != static_cast<std::uint32_t>(note.signal))
    return text;
  if (note.signal == SIGFPE)
    return text + ", integer division by zero or overflow";
  if (note.signal == SIGILL)
    return text + ", an instruction this CPU does not have, or a trap";
  const char* verb = note.write ? "writing" : "reading";
  const auto end_of = [](std::span<const BufferSpan> buffers) {
    return buffers.empty() ? 0 : buffers.back().pages_end + page;
  };
  const std::uint64_t in = note.address - note.input_base;
  const std::uint64_t out = note.address - note.output_base;
  std::string where;
  if (note.address < page) {
    where = fmt::format("{} through a null pointer", verb);
  } else if (in < end_of(inputs)) {
    where = near_buffer(in, inputs, "input", verb);
    if (note.write)
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (in >= inputs[i].offset && in < inputs[i].offset + inputs[i].bytes)
          where = fmt::format("writing into the read-only inputs (input {}, byte {})", i,
                              in - inputs[i].offset);
  } else if (out < end_of(outputs)) {
    where = near_buffer(out, outputs, "output", verb);
  } else if (note.address + protocol::stack_guard >= note.stack_base &&
             note.address < note.stack_base) {
    where = fmt::format("stack overflow: the stack has {} MiB", note.stack_bytes >> 20);
  } else if (note.address >= note.workspace_base + note.workspace_bytes &&
             note.address < note.workspace_base + note.workspace_bytes + 2 * page) {
    where = fmt::format("{} past the end of the workspace", verb);
  }
  if (where.empty())
    where = fmt::format("{} at address {:#x}, outside every buffer", verb, note.address);
  return text + ", " + where;
}

} // namespace kw
