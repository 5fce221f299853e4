// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

#include <string>

namespace kw::cli {

/// "90", "90s", "5m", "2h" -> seconds, > 0.
Result<double> parse_duration(const std::string& text);

} // namespace kw::cli
