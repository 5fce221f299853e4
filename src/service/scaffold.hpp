// SPDX-License-Identifier: Apache-2.0
// `kernwright init op NAME`: an operator folder that `check` accepts, ready to be edited.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace kw {

/// `reference`: "c++" or "python". Errors: a name that is no identifier, an existing folder.
Result<std::vector<std::string>>
scaffold_operator(const std::string& folder, const std::string& name, const std::string& reference);

} // namespace kw
