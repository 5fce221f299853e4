// SPDX-License-Identifier: Apache-2.0
// A crash in the user's terms: which buffer, before or past it, reading or writing. The address
// comes from the arm and is advice for this text only.
#pragma once

#include "runner/layout.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace kw {

struct FaultNote {
  int signal = 0; ///< of the process; the note counts only if it is the same
  std::uint32_t noted_signal = 0;
  bool write = false;
  std::uint64_t address = 0;
  std::uint64_t input_base = 0, output_base = 0;
  std::uint64_t stack_base = 0; ///< lowest usable byte
  std::uint64_t stack_bytes = 0;
  std::uint64_t workspace_base = 0, workspace_bytes = 0;
};

/// "SIGSEGV, writing into the read-only inputs (input 2, byte 128)".
[[nodiscard]] std::string describe_fault(const FaultNote& note, std::span<const BufferSpan> inputs,
                                         std::span<const BufferSpan> outputs);

} // namespace kw
