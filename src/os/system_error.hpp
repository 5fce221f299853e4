// SPDX-License-Identifier: Apache-2.0
// One place that turns errno into a sentence and a remedy.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace kw {

/// "cannot <action> <path>: <reason>", with the remedy a user can act on (disk full, read-only file
/// system, permission, too many open files ...). Kind: not_found for ENOENT, else infrastructure.
[[nodiscard]] Error system_error(int error_number, std::string_view action,
                                 const std::string& path = {});

/// fail(system_error(errno, ...)).
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string_view action,
                                               const std::string& path = {});

} // namespace kw
