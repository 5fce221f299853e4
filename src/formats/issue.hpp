// SPDX-License-Identifier: Apache-2.0
// What `check` reports. Reading never stops at the first fault: every one is collected.
#pragma once

#include "base/result.hpp"

#include <algorithm>
#include <vector>

namespace kw {

enum class Severity {
  warning, ///< accepted, but surprising or refused by another tool; the message says which
  error,   ///< the record is not usable; one that could not be read is left out of the result
};

struct Issue {
  Severity severity = Severity::error;
  Error error; ///< where = "file:line:column", cause, remedy
};
using Issues = std::vector<Issue>;

[[nodiscard]] inline bool has_errors(const Issues& issues) {
  return std::ranges::any_of(issues, [](const Issue& i) { return i.severity == Severity::error; });
}

/// The first issue that is an error.
[[nodiscard]] inline Status first_error(const Issues& issues) {
  for (const Issue& i : issues)
    if (i.severity == Severity::error)
      return fail(i.error);
  return {};
}

} // namespace kw
