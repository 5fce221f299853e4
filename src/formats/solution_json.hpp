// SPDX-License-Identifier: Apache-2.0
// Solution <-> JSON (FlashInfer-Bench schema). Our binding "kernwright" (a plain C entry) is not in
// upstream's enumeration: it is written as `spec.x_kernwright.binding` beside a null `binding`, so
// that the file stays valid there, and is read from either place.
#pragma once

#include "formats/issue.hpp"
#include "model/solution.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kw {

/// Empty when the text has an error; every error and warning is added to `issues`.
std::optional<Solution> decode_solution(std::string_view text, const std::string& file,
                                        Issues& issues);

/// Two blanks of indentation, newline at the end.
[[nodiscard]] std::string encode_solution(const Solution& solution);

/// The rules a Solution must keep whatever it was made from: names, entry file among the sources,
/// paths that stay inside, known language and binding, valid UTF-8. The first broken one.
Status check_solution(const Solution& solution);

} // namespace kw
