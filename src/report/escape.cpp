// SPDX-License-Identifier: Apache-2.0
#include "report/escape.hpp"

#include <cstdint>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr char32_t replacement = 0xfffd;

/// Decodes one code point at `at` and moves on; invalid or overlong bytes give U+FFFD each.
char32_t next(std::string_view s, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(at);
  const int extra = first < 0x80                     ? 0
                    : first >= 0xc2 && first <= 0xdf ? 1
                    : first >= 0xe0 && first <= 0xef ? 2
                    : first >= 0xf0 && first <= 0xf4 ? 3
                                                     : -1;
  if (extra < 0 || at + static_cast<std::size_t>(extra) >= s.size()) {
    ++at;
    return replacement;
  }
  char32_t c = extra == 0 ? first : first & (0x3fU >> extra);
  for (int i = 1; i <= extra; ++i) {
    const unsigned char b = byte(at + static_cast<std::size_t>(i));
    if ((b & 0xc0) != 0x80) {
      ++at;
      return replacement;
    }
    c = (c << 6) | (b & 0x3fU);
  }
  const bool overlong = (extra == 2 && c < 0x800) || (extra == 3 && c < 0x10000);
  if (overlong || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) {
    ++at;
    return replacement;
  }
  at += static_cast<std::size_t>(extra) + 1;
  return c;
}

void append(std::string& out, char32_t c) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | (c >> 6));
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3f));
    put(0x80 | ((c >> 6) & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

/// Invisible, reordering or forbidden in XML: shown by number instead.
bool must_be_spelled(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool reorders = c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                        (c >= 0x2066 && c <= 0x2069) || c == 0x061c;
  const bool line_break = c == 0x2028 || c == 0x2029;
  const bool invisible =
      c == 0x200b || c == 0xfeff || c == 0x2060 || (c >= 0xe0000 && c <= 0xe007f);
  const bool noncharacter = (c & 0xfffe) == 0xfffe;
  return control || reorders || line_break || invisible || noncharacter;
}

/// Feeds every code point to `special`, which may write something else and return true.
template <class Special> std::string rewrite(std::string_view text, const Special& special) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next(text, at);
    if (special(c, out))
      continue;
    if (must_be_spelled(c))
      out += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(c));
    else
      append(out, c);
  }
  return out;
}

} // namespace

std::string xml_text(std::string_view text) {
  return rewrite(text, [](char32_t c, std::string& out) {
    switch (c) {
    case U'&':
      out += "&amp;";
      return true;
    case U'<':
      out += "&lt;";
      return true;
    case U'>':
      out += "&gt;";
      return true;
    case U'"':
      out += "&quot;";
      return true;
    case U'\'':
      out += "&#39;";
      return true;
    case U'\n':
    case U'\t':
      out += static_cast<char>(c);
      return true;
    case U'\r':
      return true;
    default:
      return false;
    }
  });
}

std::string terminal_text(std::string_view text) {
  return rewrite(text, [](char32_t c, std::string& out) {
    if (c == U'\n')
      out += '\n';
    else if (c == U'\t')
      out += "    ";
    else
      return c == U'\r';
    return true;
  });
}

std::string markdown_text(std::string_view text) {
  static constexpr std::string_view markup = "\\`*_[]()#|~!";
  return rewrite(text, [](char32_t c, std::string& out) {
    switch (c) {
    case U'&':
      out += "&amp;";
      return true;
    case U'<':
      out += "&lt;";
      return true;
    case U'>':
      out += "&gt;";
      return true;
    case U'\n':
    case U'\t':
      out += ' ';
      return true;
    case U'\r':
      return true;
    // These two would make links of URLs and mentions of names.
    case U':':
      out += "&#58;";
      return true;
    case U'@':
      out += "&#64;";
      return true;
    default:
      break;
    }
    if (c >= 0x80 || markup.find(static_cast<char>(c)) == std::string_view::npos)
      return false;
    out += '\\';
    out += static_cast<char>(c);
    return true;
  });
}

std::string markdown_code(std::string_view text) {
  std::string body = rewrite(text, [](char32_t c, std::string& out) {
    switch (c) {
    case U'`':
      out += '\'';
      return true;
    case U'|':
      out += "\\|";
      return true;
    case U'\n':
    case U'\t':
      out += ' ';
      return true;
    case U'\r':
      return true;
    default:
      return false;
    }
  });
  return body.empty() ? body : "`" + body + "`";
}

std::string csv_text(std::string_view text) {
  std::string body = rewrite(text, [](char32_t c, std::string& out) {
    if (c == U'"')
      out += "\"\"";
    else if (c == U'\n' || c == U'\t')
      out += ' ';
    else
      return c == U'\r';
    return true;
  });
  if (!body.empty() && std::string_view("=+-@").find(body.front()) != std::string_view::npos)
    body.insert(0, 1, '\'');
  return "\"" + body + "\"";
}

std::string valid_utf8(std::string_view text) {
  return rewrite(text, [](char32_t c, std::string& out) {
    append(out, c);
    return true;
  });
}

} // namespace kw
