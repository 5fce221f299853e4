// SPDX-License-Identifier: Apache-2.0
// What a candidate's source may not contain, said before any compiler runs. This is courtesy and
// tidiness, not the defence: macros can hide most of it. The defence is that the compiler's sandbox
// can read nothing secret, that flags are ours, and that the object is admitted by its bytes.
#pragma once

#include "model/solution.hpp"
#include "model/verdict.hpp"

#include <string>
#include <vector>

namespace kw {

/// Errors with file, line, code and the allowed alternative; empty when the sources pass.
[[nodiscard]] std::vector<Diagnostic> check_source_rules(const std::vector<SourceFile>& sources);

/// Paths are relative, without "..", distinct, and of printable characters.
[[nodiscard]] std::vector<Diagnostic> check_source_paths(const std::vector<SourceFile>& sources);

} // namespace kw
