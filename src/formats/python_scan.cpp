// SPDX-License-Identifier: Apache-2.0
#include "formats/python_scan.hpp"

#include <fmt/format.h>
#include <utility>
#include <vector>

namespace kw {
namespace {

bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (c & 0x80) != 0;
}

/// Length of `word` followed by blanks at the start of `text`, 0 if it is not there.
std::size_t word_and_blanks(std::string_view text, std::string_view word) {
  if (!text.starts_with(word))
    return 0;
  std::size_t at = word.size();
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
    ++at;
  return at == word.size() ? 0 : at;
}

bool defines_run(std::string_view line) {
  const std::size_t at = word_and_blanks(line, "def");
  if (at == 0 || line.substr(at, 3) != "run")
    return false;
  return line.size() == at + 3 || !name_char(line[at + 3]);
}

} // namespace

PythonScan scan_python(std::string_view text) {
  PythonScan out;
  std::vector<std::pair<char, int>> open; // bracket and its line
  int line = 1;
  bool line_start = true;
  const auto fault = [&](int at, std::string_view what) {
    if (!out.fault)
      out.fault = fmt::format("line {}: {}", at, what);
  };
  for (std::size_t i = 0; i < text.size();) {
    if (line_start && open.empty()) {
      const std::string_view rest = text.substr(i);
      out.top_level_run |= defines_run(rest);
      if (const std::size_t n = word_and_blanks(rest, "async"); n != 0)
        out.async_run |= defines_run(rest.substr(n));
    }
    line_start = false;
    const char c = text[i];
    if (c == '\n') {
      ++line;
      ++i;
      line_start = true;
    } else if (c == '\\' && i + 1 < text.size()) { // continues the line
      line += text[i + 1] == '\n' ? 1 : 0;
      i += 2;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"' || c == '\'') {
      const int from = line;
      const bool triple = text.substr(i, 3) == std::string(3, c);
      i += triple ? 3 : 1;
      bool closed = false;
      while (i < text.size() && !closed) {
        if (text[i] == '\\') {
          line += i + 1 < text.size() && text[i + 1] == '\n' ? 1 : 0;
          i += 2;
        } else if (triple ? text.substr(i, 3) == std::string(3, c) : text[i] == c) {
          i += triple ? 3 : 1;
          closed = true;
        } else if (text[i] == '\n' && !triple) {
          break;
        } else {
          line += text[i] == '\n' ? 1 : 0;
          ++i;
        }
      }
      i = std::min(i, text.size());
      if (!closed)
        fault(from, "a string is never closed");
    } else {
      if (c == '(' || c == '[' || c == '{') {
        open.emplace_back(c, line);
      } else if (c == ')' || c == ']' || c == '}') {
        const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (open.empty() || open.back().first != wanted)
          fault(line, fmt::format("`{}` closes nothing", c));
        else
          open.pop_back();
      }
      ++i;
    }
  }
  if (!open.empty())
    fault(open.back().second, fmt::format("`{}` is never closed", open.back().first));
  return out;
}

} // namespace kw
