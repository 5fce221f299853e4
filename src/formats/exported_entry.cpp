// SPDX-License-Identifier: Apache-2.0
// A scanner rather than a regular expression: sources come from anyone, and backtracking over 4 MiB
// would exhaust the stack.
#include "formats/exported_entry.hpp"

#include <algorithm>
#include <cctype>

namespace kw {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The text as tokens: words, literals (as one token, quotes included) and single characters.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) {}

  /// The next token, "" at the end.
  std::string_view next() {
    skip_blank();
    if (rest_.empty())
      return {};
    if (is_word(rest_[0])) {
      const std::string_view word = take(run_of_word());
      const bool raw = word.ends_with('R') && rest_.starts_with('"');
      return raw ? raw_literal() : word;
    }
    return rest_[0] == '"' || rest_[0] == '\'' ? literal() : take(1);
  }

  /// Passes over everything up to the `)` that closes an open `(`.
  void close() {
    for (int depth = 1; depth > 0;) {
      const std::string_view token = next();
      if (token.empty())
        return;
      depth += token == "(" ? 1 : token == ")" ? -1 : 0;
    }
  }

 private:
  std::string_view take(std::size_t n) {
    const std::string_view out = rest_.substr(0, n);
    rest_.remove_prefix(out.size());
    return out;
  }

  [[nodiscard]] std::size_t run_of_word() const {
    return static_cast<std::size_t>(std::find_if_not(rest_.begin(), rest_.end(), is_word) -
                                    rest_.begin());
  }

  void skip_blank() {
    for (;;) {
      if (rest_.starts_with("//"))
        take(std::min(rest_.find('\n'), rest_.size()));
      else if (rest_.starts_with("/*"))
        take(std::min(rest_.find("*/", 2), rest_.size() - 2) + 2);
      else if (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0])) != 0)
        take(1);
      else
        return;
    }
  }

  std::string_view literal() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != rest_[0] && rest_[end] != '\n')
      end += rest_[end] == '\\' ? 2 : 1;
    return take(end + 1);
  }

  std::string_view raw_literal() {
    const std::size_t open = rest_.find('(');
    if (open == std::string_view::npos)
      return take(rest_.size());
    const std::string end = ")" + std::string(rest_.substr(1, open - 1)) + "\"";
    const std::size_t at = rest_.find(end, open);
    return take(at == std::string_view::npos ? rest_.size() : at + end.size());
  }

  std::string_view rest_;
};

/// Reads on after `extern "C"`: the name of a function that is defined here, or "".
std::string defined_function(Tokens& tokens) {
  std::string_view name;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == ";" || token == "{" || token == "=")
      return {};
    if (token != "(") {
      name = token;
      continue;
    }
    tokens.close();
    if (name == "__attribute__" || name == "alignas" || name == "decltype")
      continue;
    const std::string found(name);
    for (std::string_view after = tokens.next(); !after.empty() && after != ";";
         after = tokens.next())
      if (after == "{")
        return found;
    return {};
  }
  return {};
}

} // namespace

std::vector<std::string> exported_functions(std::string_view text) {
  std::vector<std::string> out;
  Tokens tokens(text);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token != "extern")
      continue;
    if (tokens.next() != "\"C\"")
      continue;
    if (std::string name = defined_function(tokens);
        !name.empty() && std::ranges::find(out, name) == out.end())
      out.push_back(std::move(name));
  }
  return out;
}

} // namespace kw
