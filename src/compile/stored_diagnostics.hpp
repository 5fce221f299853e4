// SPDX-License-Identifier: Apache-2.0
// Diagnostics beside a cached object, so that a hit reports the same warnings as the build did.
#pragma once

#include "model/verdict.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kw {

[[nodiscard]] std::string store_diagnostics(const std::vector<Diagnostic>& diagnostics);
/// Text of another version, or damaged text, gives an empty list.
[[nodiscard]] std::vector<Diagnostic> load_diagnostics(std::string_view text);

} // namespace kw
