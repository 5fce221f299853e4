// SPDX-License-Identifier: Apache-2.0
// Loads whose addresses are loaded, as far as the registers of a loop show it: pointer chasing and
// access through an index.
#pragma once

#include "target/cpu/machine_code.hpp"

#include <span>

namespace kw {

/// Loads of a loop (one turn, in order) whose address follows from what the same load gave a turn
/// before. Values that go through memory or out of the registers named in the text are lost, and
/// all instructions count as executed: an opinion, not a proof.
[[nodiscard]] int chased_loads(std::span<const Instruction> loop);

/// Loads of a loop whose index (not base) follows from another load of it: x[at[i]].
[[nodiscard]] int indirect_loads(std::span<const Instruction> loop);

} // namespace kw
