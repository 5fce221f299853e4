// SPDX-License-Identifier: Apache-2.0
// A C++ lexer that knows just enough to tell code from comments and strings. It does not expand
// macros: it feeds the source rules and the search for where a refused symbol is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct SourceToken {
  enum class Kind {
    identifier,
    text,        ///< string literal without quotes and prefix; also the name in #include "..."
    header,      ///< the name in #include <...>
    directive,   ///< `include`, `pragma`, ...: the word after a # at the start of a line
    punctuation, ///< one character
    number,
    character,
    line_end, ///< end of a preprocessor directive
  };
  Kind kind = Kind::punctuation;
  std::string value;
  int line = 1;
};

/// Lines spliced by a backslash count as one logical line but keep their numbers. Any input is
/// accepted; unterminated constructs end with the text.
[[nodiscard]] std::vector<SourceToken> tokenize(std::string_view source);

} // namespace kw
