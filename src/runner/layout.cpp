// SPDX-License-Identifier: Apache-2.0
#include "runner/layout.hpp"

#include "runner/protocol.hpp"

#include <algorithm>

namespace kw {
namespace {

using protocol::page;
constexpr std::size_t alignment = 64; // what the kernel's contract promises for every pointer

/// Bytes of the accessible pages; an empty buffer gets one, so that its pointer is valid.
std::size_t page_bytes(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + page - 1) / page) * page;
}

} // namespace

std::size_t arena_bytes(std::span<const std::size_t> buffer_bytes) {
  std::size_t total = 0;
  for (const std::size_t bytes : buffer_bytes)
    total += page_bytes(bytes) + 2 * page;
  return std::max(total, page);
}

Result<std::vector<BufferSpan>> plan_layout(std::span<const std::size_t> buffer_bytes,
                                            Placement placement, std::size_t capacity) {
  if (buffer_bytes.size() > protocol::max_buffers)
    return fail(ErrorKind::invalid_input,
                "a call takes at most " + std::to_string(protocol::max_buffers) +
                    " buffers a side, not " + std::to_string(buffer_bytes.size()));
  std::size_t needed = 0;
  std::vector<BufferSpan> plan(buffer_bytes.size());
  const auto place = [&](std::size_t i) -> Status {
    const std::size_t bytes = buffer_bytes[i];
    if (bytes > capacity)
      return fail(ErrorKind::invalid_input, "a buffer of " + std::to_string(bytes) +
                                                " bytes exceeds the arena of " +
                                                std::to_string(capacity) + " bytes");
    BufferSpan& span = plan[i];
    span.bytes = bytes;
    span.pages_begin = needed + page;
    span.pages_end = span.pages_begin + page_bytes(bytes);
    span.offset = placement == Placement::start_aligned
                      ? span.pages_begin
                      : (span.pages_end - std::max<std::size_t>(bytes, 1)) / alignment * alignment;
    needed = span.pages_end + page;
    return {};
  };
  for (const bool large : {true, false})
    for (std::size_t i = 0; i < buffer_bytes.size(); ++i)
      if ((buffer_bytes[i] >= large_buffer) == large)
        KW_CHECK(place(i));
  if (needed > capacity)
    return fail(ErrorKind::invalid_input,
                "the buffers need " + std::to_string(needed) +
                    " bytes with their guard pages, the "
                    "arena has " +
                    std::to_string(capacity),
                "start the session with the capacity of its largest workload (arena_bytes)");
  return plan;
}

} // namespace kw
