// SPDX-License-Identifier: Apache-2.0
// Instructions worth a human's look. Bytes, not a disassembly: an immediate can look like one, so
// this only flags. What such instructions do is stopped by seccomp and by the CPU-state check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// "syscall at 0x1040 (3 places)" for each kind found in `code`, which is loaded at `address`.
[[nodiscard]] std::vector<std::string> suspicious_instructions(std::span<const std::byte> code,
                                                               std::uint64_t address);

} // namespace kw
