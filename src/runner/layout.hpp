// SPDX-License-Identifier: Apache-2.0
// Where buffers lie in an arena: each on its own pages with an inaccessible page on either side.
//
//   guard | [slack] buffer [slack] | guard guard | [slack] buffer [slack] | guard
//
// start_aligned: the buffer begins its page, slack follows. end_aligned: it ends as close to the
// page end as 64-byte alignment of its start allows, slack (< 64 bytes) follows, the rest precedes.
#pragma once

#include "base/result.hpp"
#include "runner/session.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace kw {

struct BufferSpan {
  std::size_t offset = 0, bytes = 0;          ///< of the buffer in the arena
  std::size_t pages_begin = 0, pages_end = 0; ///< accessible bytes around it
};

/// Bytes an arena needs for these buffers, whatever the placement: what
/// SessionOptions::input_capacity and output_capacity are computed from.
[[nodiscard]] std::size_t arena_bytes(std::span<const std::size_t> buffer_bytes);

/// Buffers from this size on lie before all others. So they stay where they are while the rest
/// changes from workload to workload, and what a trial leaves of them needs no second copy.
inline constexpr std::size_t large_buffer = 64 << 20;

/// Errors: invalid_input if they do not fit into `capacity` or are too many.
Result<std::vector<BufferSpan>> plan_layout(std::span<const std::size_t> buffer_bytes,
                                            Placement placement, std::size_t capacity);

} // namespace kw
