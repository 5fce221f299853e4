// SPDX-License-Identifier: Apache-2.0
// Fields of a recorded result. A journal may have been edited: whatever is not of its kind is
// absent.
#pragma once

#include "base/json.hpp"

#include <optional>
#include <string>

namespace kw {

[[nodiscard]] std::optional<double> number_in(const Json& result, const char* key);
[[nodiscard]] std::string text_in(const Json& result, const char* key);
[[nodiscard]] bool flag_in(const Json& result, const char* key);

} // namespace kw
