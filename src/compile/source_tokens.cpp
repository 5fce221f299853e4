// SPDX-License-Identifier: Apache-2.0
#include "compile/source_tokens.hpp"

#include <cstddef>

namespace kw {
namespace {

bool starts_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool in_identifier(char c) {
  return starts_identifier(c) || is_digit(c);
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

class Lexer {
 public:
  explicit Lexer(std::string_view s) : s_(s) {}

  std::vector<SourceToken> run() {
    while (at() != '\0' || i_ < s_.size())
      step();
    end_directive();
    return std::move(out_);
  }

 private:
  using Kind = SourceToken::Kind;

  /// Character `ahead` of the cursor with line splices removed; '\0' at the end.
  char at(std::size_t ahead = 0) {
    std::size_t j = unsplice(i_);
    while (ahead-- > 0)
      j = unsplice(j + 1);
    return j < s_.size() ? s_[j] : '\0';
  }
  [[nodiscard]] std::size_t unsplice(std::size_t j) const {
    while (j < s_.size() && s_[j] == '\\') {
      std::size_t k = j + 1;
      while (k < s_.size() && is_blank(s_[k])) // gcc accepts blanks before the line end
        ++k;
      if (k >= s_.size() || s_[k] != '\n')
        break;
      j = k + 1;
    }
    return j;
  }
  char take() {
    const std::size_t j = unsplice(i_);
    for (std::size_t k = i_; k < j; ++k)
      line_ += s_[k] == '\n';
    if (j >= s_.size()) {
      i_ = s_.size();
      return '\0';
    }
    line_ += s_[j] == '\n';
    i_ = j + 1;
    return s_[j];
  }
  [[nodiscard]] bool done() { return unsplice(i_) >= s_.size(); }

  void emit(Kind kind, std::string value, int line) {
    out_.push_back({kind, std::move(value), line});
    line_start_ = false;
  }
  void end_directive() {
    if (in_directive_)
      out_.push_back({Kind::line_end, {}, line_});
    in_directive_ = include_name_ = false;
  }

  void step() {
    const int line = line_;
    const char c = at();
    if (done()) {
      i_ = s_.size();
      return;
    }
    if (c == '\n') {
      take();
      end_directive();
      line_start_ = true;
      return;
    }
    if (is_blank(c) || c == '\0') {
      take();
      return;
    }
    if (c == '/' && at(1) == '/') {
      while (!done() && at() != '\n')
        take();
      return;
    }
    if (c == '/' && at(1) == '*') {
      take(), take();
      while (!done() && !(at() == '*' && at(1) == '/'))
        take();
      take(), take();
      return;
    }
    if (line_start_ && (c == '#' || (c == '%' && at(1) == ':')))
      return directive(line);
    if (include_name_ && c == '<')
      return header_name(line);
    if (starts_identifier(c))
      return word(line);
    if (c == '"')
      return quoted(line, '"', Kind::text);
    if (c == '\'')
      return quoted(line, '\'', Kind::character);
    if (is_digit(c))
      return number(line);
    emit(Kind::punctuation, std::string(1, take()), line);
  }

  void directive(int line) {
    if (take() == '%')
      take();
    in_directive_ = true;
    line_start_ = false;
    while (is_blank(at()))
      take();
    std::string name;
    while (in_identifier(at()))
      name += take();
    include_name_ =
        name == "include" || name == "include_next" || name == "import" || name == "embed";
    emit(Kind::directive, std::move(name), line);
  }

  void header_name(int line) {
    take();
    std::string name;
    while (!done() && at() != '>' && at() != '\n')
      name += take();
    if (at() == '>')
      take();
    include_name_ = false;
    emit(Kind::header, std::move(name), line);
  }

  void word(int line) {
    std::string name;
    while (in_identifier(at()))
      name += take();
    const bool prefix =
        name == "R" || name == "u8R" || name == "uR" || name == "UR" || name == "LR";
    if (prefix && at() == '"')
      return raw_string(line);
    if ((name == "u8" || name == "u" || name == "U" || name == "L") && at() == '"')
      return quoted(line, '"', Kind::text);
    if (name == "__has_include" || name == "__has_include_next" || name == "__has_embed")
      include_name_ = false;
    emit(Kind::identifier, std::move(name), line);
  }

  void quoted(int line, char quote, Kind kind) {
    take();
    std::string value;
    // An unterminated literal ends with its line, as for the compiler.
    while (!done() && at() != quote && at() != '\n') {
      if (at() == '\\')
        value += take();
      value += take();
    }
    if (at() == quote)
      take();
    include_name_ = false;
    emit(kind, std::move(value), line);
  }

  void raw_string(int line) {
    // Splices are not removed inside raw strings: work on the bytes.
    const std::size_t open = s_.find('(', i_);
    const std::size_t quote = unsplice(i_);
    if (open == std::string_view::npos || open < quote || open - quote > 17)
      return quoted(line, '"', Kind::text);
    std::string closing = ")";
    closing += s_.substr(quote + 1, open - quote - 1);
    closing += '"';
    const std::size_t close = s_.find(closing, open + 1);
    const std::size_t end = close == std::string_view::npos ? s_.size() : close;
    std::string value(s_.substr(open + 1, end - open - 1));
    const std::size_t next = close == std::string_view::npos ? s_.size() : close + closing.size();
    for (std::size_t k = i_; k < next; ++k)
      line_ += s_[k] == '\n';
    i_ = next;
    emit(Kind::text, std::move(value), line);
  }

  void number(int line) {
    std::string value;
    while (in_identifier(at()) || at() == '.' || (at() == '\'' && in_identifier(at(1))))
      value += take();
    emit(Kind::number, std::move(value), line);
  }

  std::string_view s_;
  std::size_t i_ = 0;
  int line_ = 1;
  bool line_start_ = true; ///< only blanks and comments so far on this line
  bool in_directive_ = false;
  bool include_name_ = false; ///< the next < opens a header name
  std::vector<SourceToken> out_;
};

} // namespace

std::vector<SourceToken> tokenize(std::string_view source) {
  return Lexer(source).run();
}

} // namespace kw
