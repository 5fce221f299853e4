// SPDX-License-Identifier: Apache-2.0
// What a judgement with sanitizers consists of (docs/sanitizers.md); the run itself is
// Judge::sanitize.
#pragma once

#include "base/result.hpp"
#include "judge/binding.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace kw {

inline constexpr const char* default_sanitizers = "address,undefined";

/// "address,undefined,thread" -> {"address,undefined", "thread"}: builds that can be made of it, as
/// the thread sanitizer goes with no other. "none" -> {}. Errors: a name that is none of these.
Result<std::vector<std::string>> sanitizer_builds(const std::string& names);

/// What a gate runs when nothing else was asked for: the champion's gate address and undefined, and
/// thread where several threads are declared; the others none.
[[nodiscard]] std::string sanitizers_of_gate(const std::string& gate, int threads);

/// Calls to make: workloads by index, the cheapest and those with ragged ends first, as much as an
/// instrumented kernel does in seconds.
[[nodiscard]] std::vector<std::size_t> side_calls(const std::vector<BoundWorkload>& workloads);

} // namespace kw
