// SPDX-License-Identifier: Apache-2.0
// Ship-back: the winner in forms that other programs use.
#pragma once

#include "base/result.hpp"
#include "service/workspace.hpp"

#include <string>
#include <vector>

namespace kw {

/// Writes kernel.cpp, <name>.h (C API), lib<name>.so, torch_op.py + torch_op.cpp, solution.json and
/// README.md into `folder`. Returns the files. Errors: unknown id, a folder that is not empty.
Result<std::vector<std::string>> ship_record(const Workspace& workspace, const std::string& id,
                                             const std::string& folder);

/// The operators (or another set) and the archive's probes as a FlashInfer-Bench trace set.
Result<std::vector<std::string>> ship_trace_set(const Workspace& workspace,
                                                const std::string& folder, bool with_traces);

} // namespace kw
