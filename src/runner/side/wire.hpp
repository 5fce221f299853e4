// SPDX-License-Identifier: Apache-2.0
// Memory shared by the judge and the driver of a side run. Shipped as source and compiled with each
// set of sanitizers, so nothing but the standard headers is included.
//
//   Header | Trial[trials] | Argument[...] | buffers
//
// Offsets count from the header. The judge writes everything; the driver writes `stage`, `done`,
// `return_code` and the outputs. A hostile candidate may write anything: the judge keeps its own
// copy of every offset and reads back output bytes, and the rest for the text of a report only.
#pragma once

#include <cstdint>

namespace kw::side {

inline constexpr std::uint32_t magic = 0x4b57'5331; // "KWS1"
inline constexpr std::uint32_t max_arguments = 96;

enum Stage : std::uint32_t {
  started = 0, ///< until the shared memory was found sound
  loading = 1, ///< from here on candidate code may have run
  calling = 2,
  finished = 3,
};

struct Header {
  std::uint32_t magic, trials, threads, stage;
  std::uint32_t done, pad;
  std::uint64_t workspace_bytes, bytes;
};

struct Trial {
  std::uint64_t arguments; ///< offset of its first Argument
  std::uint32_t count;
  std::int32_t return_code;
};

struct Argument {
  enum Kind : std::uint32_t { input, output, integer, floating };
  std::uint32_t kind, pad;
  std::uint64_t bits; ///< value of an integer, or bit pattern of a float in the low end
  std::uint64_t offset, bytes;
};

} // namespace kw::side
