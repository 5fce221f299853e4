// SPDX-License-Identifier: Apache-2.0
// The flags every candidate and every C++ baseline is built with. Pinned: -march=native would mean
// something else on each machine and each compiler version, and g++-12 prefers 256-bit vectors
// under it.
#pragma once

#include "compile/compiler.hpp"
#include "os/cpu.hpp"

#include <string>
#include <vector>

namespace kw {

/// The level and the extra feature flags this CPU supports, spelled out:
/// {"-march=x86-64-v4", "-mavx512bf16", ..., "-mprefer-vector-width=512"}.
/// A machine that is not x86-64 gets no architecture flags.
[[nodiscard]] std::vector<std::string> arch_flags(const CpuInfo& cpu);

/// Compilation (not link) flags of candidates.
[[nodiscard]] std::vector<std::string> candidate_compile_flags(const CpuInfo& cpu);
/// Link flags of candidates; the version script is added by the caller.
[[nodiscard]] std::vector<std::string> candidate_link_flags(const Compiler& compiler);
/// Oracles and peers: hosted C++, exceptions, libraries.
[[nodiscard]] std::vector<std::string> trusted_flags(const CpuInfo& cpu);

/// Side builds (docs/sanitizers.md): the candidate's own flags and sanitizers ("address,undefined"
/// or "thread"), with line tables; and the executable that provides the sanitizers' runtime to it.
[[nodiscard]] std::vector<std::string> sanitized_compile_flags(const CpuInfo& cpu,
                                                               const std::string& sanitizers);
[[nodiscard]] std::vector<std::string> side_driver_flags(const std::string& sanitizers);

/// Linker version script that exports exactly `entry`. (Hidden visibility would win over a version
/// script, so candidates are compiled with default visibility and everything else is made local
/// here; -fno-semantic-interposition keeps inlining as it is with hidden visibility.)
[[nodiscard]] std::string version_script(const std::string& entry);

} // namespace kw
