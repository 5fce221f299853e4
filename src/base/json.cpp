// SPDX-License-Identifier: Apache-2.0
// A small JSON parser of our own, because three things are needed at once that nlohmann's does not
// give: the tokens NaN, Infinity and -Infinity that Python writes, duplicate keys as errors (the
// order of keys is a calling convention; two values for one name have no meaning), and a bound on
// depth. Everything else is RFC 8259: strings are valid UTF-8, one value per document. A number
// beyond double range becomes an infinity, as in Python.
#include "base/json.hpp"

#include "base/strings.hpp"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace kw {
namespace {

constexpr int max_depth = 256;

class Parser {
 public:
  explicit Parser(const JsonSource& source) : source_(source), text_(source.text) {}

  Result<Json> document() {
    if (text_.starts_with("\xef\xbb\xbf"))
      at_ = 3;
    Json out;
    space();
    if (!value(out, 0))
      return fail(std::move(error_));
    space();
    if (at_ != text_.size()) {
      stop("something follows the end of the JSON value", "keep one JSON value per document");
      return fail(std::move(error_));
    }
    return out;
  }

 private:
  bool stop(std::string message, std::string remedy = {}) {
    return stop_at(at_, std::move(message), std::move(remedy));
  }
  bool stop_at(std::size_t at, std::string message, std::string remedy = {}) {
    if (remedy.empty())
      remedy = text_.find_first_not_of(" \t\r\n", at) == std::string_view::npos
                   ? "the file is cut off: write it again"
                   : "correct the JSON at this place";
    error_ = {ErrorKind::invalid_input, std::move(message), std::move(remedy),
              position(source_, at)};
    return false;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w)
      return false;
    at_ += w.size();
    return true;
  }

  bool value(Json& out, int depth) {
    if (depth > max_depth)
      return stop(fmt::format("nested deeper than {} levels", max_depth), "flatten the document");
    if (at_ == text_.size())
      return stop("the text ends where a value was expected",
                  "the file is cut off: write it again");
    switch (peek()) {
    case '{':
      return object(out, depth);
    case '[':
      return array(out, depth);
    case '"': {
      std::string s;
      if (!string(s))
        return false;
      out = std::move(s);
      return true;
    }
    case 't':
      out = true;
      return word("true") || bad_token();
    case 'f':
      out = false;
      return word("false") || bad_token();
    case 'n':
      out = nullptr;
      return word("null") || bad_token();
    case 'N':
      out = std::numeric_limits<double>::quiet_NaN();
      return word("NaN") || bad_token();
    case 'I':
      out = std::numeric_limits<double>::infinity();
      return word("Infinity") || bad_token();
    default:
      return number(out);
    }
  }

  bool bad_token() {
    std::size_t end = at_;
    while (end < text_.size() && end - at_ < 24 &&
           std::string_view(",]} \t\r\n").find(text_[end]) == std::string_view::npos)
      ++end;
    const std::string_view token = text_.substr(at_, end - at_);
    if (is_utf8(token) && !token.empty())
      return stop(fmt::format("`{}` is no JSON value", token),
                  token.starts_with('\'') ? "use double quotes" : "");
    return stop("a value was expected here");
  }

  bool number(Json& out) {
    const std::size_t start = at_;
    if (peek() == '-') {
      ++at_;
      if (word("Infinity")) {
        out = -std::numeric_limits<double>::infinity();
        return true;
      }
    }
    const auto digits = [&] {
      const std::size_t from = at_;
      while (peek() >= '0' && peek() <= '9')
        ++at_;
      return at_ - from;
    };
    bool integral = true;
    const std::size_t first = at_;
    const std::size_t whole = digits();
    if (whole == 0) {
      at_ = start;
      return bad_token();
    }
    if (whole > 1 && text_[first] == '0')
      return stop_at(start, "a number may not start with 0");
    if (peek() == '.') {
      integral = false;
      ++at_;
      if (digits() == 0)
        return stop("digits must follow the decimal point");
    }
    if (peek() == 'e' || peek() == 'E') {
      integral = false;
      ++at_;
      if (peek() == '+' || peek() == '-')
        ++at_;
      if (digits() == 0)
        return stop("digits must follow the exponent sign");
    }
    const char* from = text_.data() + start;
    const char* to = text_.data() + at_;
    if (integral) {
      std::int64_t i = 0;
      if (std::from_chars(from, to, i).ec == std::errc{}) {
        out = i;
        return true;
      }
      std::uint64_t u = 0;
      if (*from != '-' && std::from_chars(from, to, u).ec == std::errc{}) {
        out = u;
        return true;
      }
    }
    double d = 0;
    if (std::from_chars(from, to, d).ec != std::errc{})
      d = std::strtod(std::string(from, to).c_str(), nullptr); // out of range: +-inf or +-0
    out = d;
    return true;
  }

  bool hex4(std::uint32_t& out) {
    if (text_.size() - at_ < 4)
      return stop("`\\u` needs four hexadecimal digits");
    const char* from = text_.data() + at_;
    const auto r = std::from_chars(from, from + 4, out, 16);
    if (r.ec != std::errc{} || r.ptr != from + 4 || *from == '-')
      return stop("`\\u` needs four hexadecimal digits");
    at_ += 4;
    return true;
  }

  bool escape(std::string& out) {
    const char c = peek();
    ++at_;
    switch (c) {
    case '"':
    case '\\':
    case '/':
      out += c;
      return true;
    case 'b':
      out += '\b';
      return true;
    case 'f':
      out += '\f';
      return true;
    case 'n':
      out += '\n';
      return true;
    case 'r':
      out += '\r';
      return true;
    case 't':
      out += '\t';
      return true;
    case 'u':
      break;
    default:
      --at_;
      return stop("unknown escape in a string", "write a backslash as \\\\");
    }
    std::uint32_t code = 0;
    if (!hex4(code))
      return false;
    if (code >= 0xd800 && code <= 0xdfff) {
      std::uint32_t low = 0;
      if (code > 0xdbff || !word("\\u"))
        return stop("half of a surrogate pair in a string");
      if (!hex4(low))
        return false;
      if (low < 0xdc00 || low > 0xdfff)
        return stop("half of a surrogate pair in a string");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | (code >> 6));
      put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | (code >> 12));
      put(0x80 | ((code >> 6) & 0x3f));
      put(0x80 | (code & 0x3f));
    } else {
      put(0xf0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3f));
      put(0x80 | ((code >> 6) & 0x3f));
      put(0x80 | (code & 0x3f));
    }
    return true;
  }

  bool string(std::string& out) {
    const std::size_t start = at_++;
    while (true) {
      if (at_ >= text_.size())
        return stop_at(start, "this string is never closed",
                       "the file is cut off or a quote is missing");
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        ++at_;
        if (at_ >= text_.size())
          return stop_at(start, "this string is never closed",
                         "the file is cut off or a quote is missing");
        if (!escape(out))
          return false;
      } else if (c < 0x20) {
        return stop("a control character stands inside a string",
                    "write a line break as \\n and a tab as \\t");
      } else if (c < 0x80) {
        out += static_cast<char>(c);
        ++at_;
      } else {
        const std::size_t n = utf8_length(text_.substr(at_));
        if (n == 0)
          return stop("the text is not valid UTF-8", "save the file as UTF-8");
        out.append(text_.substr(at_, n));
        at_ += n;
      }
    }
  }

  bool array(Json& out, int depth) {
    out = Json::array();
    ++at_;
    space();
    if (peek() == ']') {
      ++at_;
      return true;
    }
    while (true) {
      Json item;
      space();
      if (!value(item, depth + 1))
        return false;
      out.push_back(std::move(item));
      space();
      if (peek() == ',') {
        ++at_;
        continue;
      }
      if (peek() == ']') {
        ++at_;
        return true;
      }
      return stop("`,` or `]` was expected here");
    }
  }

  bool object(Json& out, int depth) {
    out = Json::object();
    auto& members = out.get_ref<Json::object_t&>();
    std::unordered_set<std::string> names; // ordered_json looks names up one by one
    ++at_;
    space();
    if (peek() == '}') {
      ++at_;
      return true;
    }
    while (true) {
      space();
      if (peek() != '"')
        return stop("a name in double quotes was expected here",
                    peek() == '}' ? "remove the comma before `}`" : "");
      const std::size_t name_at = at_;
      std::string name;
      if (!string(name))
        return false;
      if (!names.insert(name).second)
        return stop_at(name_at, fmt::format("the key `{}` appears twice", name),
                       "keep one of the two");
      space();
      if (peek() != ':')
        return stop("`:` was expected here");
      ++at_;
      space();
      Json item;
      if (!value(item, depth + 1))
        return false;
      members.Json::object_t::Container::emplace_back(std::move(name), std::move(item));
      space();
      if (peek() == ',') {
        ++at_;
        continue;
      }
      if (peek() == '}') {
        ++at_;
        return true;
      }
      return stop("`,` or `}` was expected here");
    }
  }

  const JsonSource& source_;
  std::string_view text_;
  std::size_t at_ = 0;
  Error error_;
};

} // namespace

std::string position(const JsonSource& source, std::size_t offset) {
  int line = source.first_line;
  int column = 1;
  for (std::size_t i = 0; i < offset && i < source.text.size(); ++i) {
    if (source.text[i] == '\n') {
      ++line;
      column = 1;
    } else if ((static_cast<unsigned char>(source.text[i]) & 0xc0) != 0x80) { // count characters
      ++column;
    }
  }
  return fmt::format("{}:{}:{}", source.file, line, column);
}

Result<Json> parse_json(const JsonSource& source) {
  return Parser(source).document();
}

std::string dump_json(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace kw
