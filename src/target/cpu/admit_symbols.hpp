// SPDX-License-Identifier: Apache-2.0
// The symbols a kernel may leave undefined: the runner provides them, and they can do nothing but
// compute (the kw_ functions stay within the declared threads and workspace).
#pragma once

#include <span>
#include <string_view>

namespace kw {

[[nodiscard]] bool is_allowed_import(std::string_view symbol);
/// All of them, sorted: for documentation and for the runner's own check at start.
[[nodiscard]] std::span<const std::string_view> allowed_imports();

} // namespace kw
