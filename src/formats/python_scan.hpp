// SPDX-License-Identifier: Apache-2.0
// A cheap look at Python text, with no interpreter: strings, comments and brackets are recognised,
// so that `def run` in a docstring or in a class does not count. The strict parse is the reference
// worker's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kw {

struct PythonScan {
  bool top_level_run = false;       ///< a `def run` at column 1, not `async`
  bool async_run = false;           ///< an `async def run`, which upstream does not accept
  std::optional<std::string> fault; ///< "line 3: a bracket is never closed"
};
PythonScan scan_python(std::string_view text);

} // namespace kw
