// SPDX-License-Identifier: Apache-2.0
// What llvm-mca prints about a loop (summary view and bottleneck analysis), read as a record.
#pragma once

#include "base/result.hpp"
#include "model/profile.hpp"

#include <string_view>

namespace kw {

/// The processor that every loop is held against besides this machine's own: the one whose model
/// has two 512-bit multiply-adds a cycle, which the models of its successors lack.
inline constexpr const char* reference_model = "skylake-avx512";

/// Fills cycles, throughput, ports, dependency and port. Text from outside: numbers must be there,
/// finite and in range, names are letters, digits and underscores. Errors: invalid_input, with what
/// is missing.
[[nodiscard]] Result<PipelineEstimate> read_pipeline_estimate(std::string_view text);

} // namespace kw
