// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include "base/result.hpp"
#include "report/escape.hpp"

#include <algorithm>

namespace kw {
namespace {

const char* ansi(Colour colour) {
  switch (colour) {
  case Colour::none:
    return "";
  case Colour::dim:
    return "\x1b[2m";
  case Colour::bold:
    return "\x1b[1m";
  case Colour::good:
    return "\x1b[32m";
  case Colour::bad:
    return "\x1b[31m";
  case Colour::warn:
    return "\x1b[33m";
  case Colour::accent:
    return "\x1b[36m";
  }
  return "";
}

/// Length of the unit that starts at `at` (a colour code or a UTF-8 sequence) and its width.
std::size_t unit_at(std::string_view s, std::size_t at, std::size_t& width) {
  if (s[at] == '\x1b') {
    const std::size_t end = s.find('m', at);
    width = 0;
    return end == std::string_view::npos ? s.size() - at : end + 1 - at;
  }
  std::size_t length = 1;
  while (at + length < s.size() && (static_cast<unsigned char>(s[at + length]) & 0xc0) == 0x80)
    ++length;
  const auto first = static_cast<unsigned char>(s[at]);
  width = 1;
  if (length == 3 && first >= 0xe1) {
    const unsigned c = ((first & 0xfU) << 12) |
                       ((static_cast<unsigned char>(s[at + 1]) & 0x3fU) << 6) |
                       (static_cast<unsigned char>(s[at + 2]) & 0x3fU);
    // Hangul, CJK, kana and full-width forms.
    if ((c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
        (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
        (c >= 0xff00 && c <= 0xff60))
      width = 2;
  } else if (length == 2 &&
             (first == 0xcc || (first == 0xcd && static_cast<unsigned char>(s[at + 1]) < 0xb0))) {
    width = 0; // combining marks U+0300..U+036F
  } else if (length == 4 && first == 0xf0) {
    width = 2; // emoji and rare CJK
  }
  return length;
}

} // namespace

namespace {

std::string one_line(std::string_view text, std::size_t max_width) {
  std::string out = terminal_text(text);
  std::ranges::replace(out, '\n', ' ');
  return max_width == 0 ? out : shorten(out, max_width);
}

} // namespace

std::string paint(std::string_view text, Colour colour, bool enabled) {
  if (!enabled || colour == Colour::none || text.empty())
    return std::string(text);
  return ansi(colour) + std::string(text) + "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
  std::size_t total = 0, width = 0;
  for (std::size_t at = 0; at < text.size();) {
    at += unit_at(text, at, width);
    total += width;
  }
  return total;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    std::string& line = lines.back();
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width)
      lines.emplace_back(word);
    else
      line.append(line.empty() ? "" : " ").append(word);
    if (end < text.size() && text[end] == '\n')
      lines.emplace_back();
    at = end + 1;
  }
  return lines;
}

std::string shorten(std::string_view text, std::size_t width) {
  if (display_width(text) <= width)
    return std::string(text);
  std::string out;
  std::size_t used = 0, unit = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = unit_at(text, at, unit);
    if (used + unit + 1 > width)
      break;
    out.append(text.substr(at, length));
    used += unit;
    at += length;
  }
  return out + "…";
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_)
    column.title = one_line(column.title, column.max_width);
}

void Table::row(std::vector<Cell> cells) {
  KW_ASSERT(cells.size() == columns_.size());
  for (std::size_t c = 0; c < cells.size(); ++c)
    cells[c].text = one_line(cells[c].text, columns_[c].max_width);
  rows_.push_back(std::move(cells));
}

std::string Table::text(bool colour, std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const std::vector<Cell>& row : rows_)
      width = std::max(width, display_width(row[c].text));
    widths.push_back(width);
  }
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text(indent, ' ');
    std::string gap;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const auto& [body, tint] = cell(c);
      const std::string blanks(widths[c] - display_width(body), ' ');
      text += gap;
      gap = columns_[c].align == Align::left ? blanks : "";
      if (columns_[c].align == Align::right)
        text += blanks;
      text += paint(body, tint, colour);
      gap += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](std::size_t c) { return Cell(columns_[c].title, Colour::dim); });
  for (const std::vector<Cell>& row : rows_)
    line([&](std::size_t c) { return row[c]; });
  return out;
}

} // namespace kw
