// SPDX-License-Identifier: Apache-2.0
// The untimed phase of a call: guard pages, poison, cache state. No allocation: the filter that
// forbids mmap and brk is closed by now.
#include "arm.hpp"

#include "runner/cache_flush.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace kw::child {
namespace {

using protocol::page;
using protocol::Place;

struct OpenPages {
  std::uint64_t begin = 0, end = 0;
};

/// What is accessible of one arena now.
struct Guards {
  std::array<OpenPages, protocol::max_buffers> open{};
  std::uint32_t count = 0;
  std::uint64_t layout = 0;
};

Guards input_guards, output_guards;
volatile std::byte sink; // keeps reading touches alive

/// Closes what the old layout opened and opens the new one's pages; nothing when it is unchanged.
void move_guards(Guards& guards, std::byte* arena, std::size_t arena_bytes, const Place* places,
                 std::uint32_t count, std::uint64_t layout, int protection) {
  if (guards.layout == layout)
    return;
  guards.count = std::min<std::uint32_t>(guards.count, protocol::max_buffers);
  for (std::uint32_t i = 0; i < guards.count; ++i)
    ::mprotect(arena + guards.open[i].begin, guards.open[i].end - guards.open[i].begin, PROT_NONE);
  guards.count = std::min<std::uint32_t>(count, protocol::max_buffers);
  for (std::uint32_t i = 0; i < guards.count; ++i) {
    const std::uint64_t begin = places[i].offset / page * page;
    const std::uint64_t last = places[i].offset + std::max<std::uint64_t>(places[i].bytes, 1);
    const std::uint64_t end = std::min<std::uint64_t>((last + page - 1) / page * page, arena_bytes);
    guards.open[i] = {begin, end};
    ::mprotect(arena + begin, end - begin, protection);
  }
  guards.layout = layout;
}

/// Deep enough for the large arrays honest kernels keep on the stack; deeper once one was.
void poison_stack(const Arm& arm, std::uint32_t pattern) {
  constexpr std::size_t least = std::size_t{256} << 10;
  static std::size_t depth = least;
  depth = std::clamp(depth, least, arm.stack_bytes / 2); // the kernel may have written anything
  constexpr std::size_t probe = std::size_t{16} << 10;
  std::byte* top = arm.stack + arm.stack_bytes;
  while (depth + probe <=
         arm.stack_bytes / 2) { // fresh stack pages are zero: anything else was used
    const std::byte* below = top - depth - probe;
    if (std::all_of(below, below + probe, [](std::byte b) { return b == std::byte{0}; }))
      break;
    depth = std::min(depth * 2, arm.stack_bytes / 2);
  }
  std::memset(top - depth, static_cast<int>(0xa7U + pattern * 0x35U) & 0xff, depth);
}

void touch_for_reading(const std::byte* from, std::uint64_t bytes, std::size_t step) {
  unsigned sum = 0;
  for (std::uint64_t at = 0; at < bytes; at += step)
    sum += std::to_integer<unsigned>(*const_cast<const volatile std::byte*>(from + at));
  sink = static_cast<std::byte>(sum);
}

/// Brings lines here for writing, contents unchanged.
void touch_for_writing(std::byte* from, std::uint64_t bytes, std::size_t step) {
  for (std::uint64_t at = 0; at < bytes; at += step) {
    volatile std::byte* p = from + at;
    *p = *p;
  }
}

// More pages than any second-level TLB holds. Never written, so all of them are the kernel's one
// zero page and cost no memory.
constexpr std::size_t eviction_pages = 8192;

} // namespace

int reserve_eviction_pages(Arm& arm) {
  void* p = ::mmap(nullptr, eviction_pages * page, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return errno;
  arm.eviction_region = static_cast<const std::byte*>(p);
  return 0;
}

void prepare_call(const Arm& arm) {
  const protocol::JudgePage& call = *arm.judge;
  const std::uint32_t inputs = std::min<std::uint32_t>(call.input_count, protocol::max_buffers);
  const std::uint32_t outputs = std::min<std::uint32_t>(call.output_count, protocol::max_buffers);
  move_guards(input_guards, arm.inputs, arm.input_bytes, call.inputs.data(), inputs,
              call.input_layout, PROT_READ);
  move_guards(output_guards, arm.outputs, arm.output_bytes, call.outputs.data(), outputs,
              call.output_layout, PROT_READ | PROT_WRITE);
  poison_stack(arm, call.poison);
  poison_workspace(arm, call.poison);
  // Page tables are filled in either protocol: page faults are not the kernel's work.
  const std::size_t step = call.warm != 0 && call.evict == 0 ? 64 : page;
  for (std::uint32_t i = 0; i < inputs; ++i)
    touch_for_reading(arm.inputs + call.inputs[i].offset, call.inputs[i].bytes, step);
  for (std::uint32_t i = 0; i < outputs; ++i)
    touch_for_writing(arm.outputs + call.outputs[i].offset, call.outputs[i].bytes, step);
  if (call.evict == 0)
    return;
  // The judge flushes inputs and outputs; here goes what only this process maps.
  flush_lines(arm.workspace, workspace_used(arm));
  touch_for_reading(arm.eviction_region, eviction_pages * page, page);
}

} // namespace kw::child
