// SPDX-License-Identifier: Apache-2.0
// The entry of a C++ source that names none: the only function it exports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Names of the functions that `text` defines as `extern "C" TYPE NAME(...) {`, in order, each
/// once. Comments and literals are passed over. Not seen: `extern "C" { ... }` blocks and what
/// macros make.
[[nodiscard]] std::vector<std::string> exported_functions(std::string_view text);

} // namespace kw
