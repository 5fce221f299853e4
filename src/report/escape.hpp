// SPDX-License-Identifier: Apache-2.0
// Names, hypotheses, compiler output and sources come from candidates: hostile text. Each output
// format has exactly one function that makes text safe for it. All of them replace invalid UTF-8
// by U+FFFD and spell out control and bidirectional-override characters as \u{..}, so that what a
// person sees is what is there.
#pragma once

#include <string>
#include <string_view>

namespace kw {

/// For XML and HTML: element content and quoted attribute values. Tabs and newlines are kept.
[[nodiscard]] std::string xml_text(std::string_view text);
/// For a terminal: no escape sequences get through. Tabs become spaces; newlines are kept.
[[nodiscard]] std::string terminal_text(std::string_view text);
/// For a table cell or a sentence in Markdown: one line, no markup, no HTML.
[[nodiscard]] std::string markdown_text(std::string_view text);
/// For an inline code span in a Markdown table: backticks, pipes and newlines are defused.
[[nodiscard]] std::string markdown_code(std::string_view text);
/// A quoted CSV text field; a leading = + - @ is defused, since spreadsheets would compute it.
[[nodiscard]] std::string csv_text(std::string_view text);
/// Valid UTF-8, nothing else changed: for JSON writers.
[[nodiscard]] std::string valid_utf8(std::string_view text);

} // namespace kw
