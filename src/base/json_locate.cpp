// SPDX-License-Identifier: Apache-2.0
// Positions are found by scanning the text again, only when a message needs one: the parsed tree
// stays a plain nlohmann value.
#include "base/json.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf"))
      at_ = 3;
    space();
  }

  /// Moves to the member or element `token` of the value here; false leaves the position alone.
  bool enter(const std::string& token) {
    const std::size_t start = at_;
    const bool found = peek() == '{' ? member(token) : peek() == '[' && element(token);
    if (!found)
      at_ = start;
    return found;
  }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  void skip_string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"')
      at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }
  void skip_value() {
    int depth = 0;
    do {
      space();
      switch (peek()) {
      case '"':
        skip_string();
        break;
      case '{':
      case '[':
        ++depth, ++at_;
        break;
      case '}':
      case ']':
        --depth, ++at_;
        break;
      case ',':
      case ':':
        ++at_;
        break;
      default:
        at_ = std::min(text_.find_first_of(",:]}[{\" \t\r\n", at_), text_.size());
      }
    } while (depth > 0 && at_ < text_.size());
  }

  bool member(const std::string& token) {
    ++at_;
    while (at_ < text_.size()) {
      space();
      if (peek() != '"')
        return false;
      const std::size_t from = at_;
      skip_string();
      const bool match = name_equals(text_.substr(from, at_ - from), token);
      space();
      at_ = std::min(at_ + 1, text_.size()); // the colon
      space();
      if (match)
        return true;
      skip_value();
      space();
      if (peek() != ',')
        return false;
      ++at_;
    }
    return false;
  }

  static bool name_equals(std::string_view quoted, const std::string& token) {
    if (quoted.find('\\') == std::string_view::npos)
      return quoted.size() == token.size() + 2 && quoted.substr(1, token.size()) == token;
    const JsonSource source{.file = {}, .text = quoted};
    auto parsed = parse_json(source);
    return parsed && parsed->is_string() && parsed->get_ref<const std::string&>() == token;
  }

  bool element(const std::string& token) {
    std::size_t index = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), index).ec != std::errc{})
      return false;
    ++at_;
    for (std::size_t i = 0; at_ < text_.size(); ++i) {
      space();
      if (peek() == ']')
        return false;
      if (i == index)
        return true;
      skip_value();
      space();
      if (peek() != ',')
        return false;
      ++at_;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

} // namespace

std::string locate(const JsonSource& source, std::string_view pointer) {
  Walker walker(source.text);
  while (!pointer.empty()) {
    pointer.remove_prefix(1); // '/'
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    std::string token;
    for (std::size_t i = 0; i < end; ++i) {
      if (pointer[i] == '~' && i + 1 < end)
        token += pointer[++i] == '1' ? '/' : '~';
      else
        token += pointer[i];
    }
    pointer.remove_prefix(end);
    if (!walker.enter(token))
      break;
  }
  return position(source, walker.at());
}

} // namespace kw
