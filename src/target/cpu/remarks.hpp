// SPDX-License-Identifier: Apache-2.0
// Why loops were or were not vectorised, in clang's words (-Rpass=loop-vectorize and its siblings).
// GCC's words name statements of its own middle end; clang's name a reason one can act on.
#pragma once

#include "model/profile.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Flags that make clang say it.
[[nodiscard]] std::vector<std::string> remark_flags();

/// One per loop, reasons before verdicts: of several remarks on one line the most telling is kept.
/// Lines that are no remarks are skipped. Remarks in files that are not among the solution's own
/// (system headers) are skipped too.
[[nodiscard]] std::vector<LoopRemark> parse_remarks(std::string_view log,
                                                    const std::vector<std::string>& own_files,
                                                    const std::string& source);

/// The code of LoopRemark for a reason in clang's words.
[[nodiscard]] std::string remark_code(std::string_view text);

} // namespace kw
