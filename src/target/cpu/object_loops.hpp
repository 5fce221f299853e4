// SPDX-License-Identifier: Apache-2.0
// Loops of a shared object's machine code, from the text that `objdump -dl --no-show-raw-insn`
// prints of it (x86-64, AT&T order).
#pragma once

#include "model/profile.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Innermost loops: from the target of a backward jump to that jump, with no other such pair
/// inside. `entry`: the exported function, whose own loops come first. Loops that compute, load and
/// store nothing are left out. One is marked hot: by `samples` (addresses as in the disassembly)
/// where there are enough, its share of them being ObjectLoop::share; else by its looks, the
/// deepest with most floating-point work, with less confidence the more rivals it has. Samples in a
/// called function belong to that function's loops, or to none.
[[nodiscard]] std::vector<ObjectLoop> object_loops(std::string_view disassembly,
                                                   const std::string& entry,
                                                   const std::vector<std::uint64_t>& samples = {});

} // namespace kw
