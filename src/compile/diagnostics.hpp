// SPDX-License-Identifier: Apache-2.0
// Compiler output -> Diagnostic records: gcc's JSON, clang's and the linker's text.
#pragma once

#include "model/solution.hpp"
#include "model/verdict.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw {

/// Replacements that keep machine paths out of messages: {"/tmp/kw-x/src/", ""}. First match wins.
using PathRedactions = std::vector<std::pair<std::string, std::string>>;

struct CompilerMessages {
  std::vector<Diagnostic> diagnostics; ///< in the compiler's order; notes follow their error
  std::string text;                    ///< the same for people, plus lines nobody could parse
};

/// `log` is the compiler's standard error. Excerpts are rebuilt from `sources` only, so a message
/// about any other file never echoes its content. Undefined references name the allowed
/// replacement.
[[nodiscard]] CompilerMessages parse_compiler_output(std::string_view log,
                                                     const std::vector<SourceFile>& sources,
                                                     const PathRedactions& redactions);

/// "file:line:column: severity: message [code]" and the excerpt, one per diagnostic.
[[nodiscard]] std::string diagnostics_text(const std::vector<Diagnostic>& diagnostics);

/// Line `line` (from 1) without its newline; "" if there is none. Cut at 200 bytes.
[[nodiscard]] std::string source_line(std::string_view content, int line);

/// Keeps the first and last half of `text` when it is longer than `limit` bytes.
[[nodiscard]] std::string head_and_tail(std::string text, std::size_t limit);

} // namespace kw
