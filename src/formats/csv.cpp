// SPDX-License-Identifier: Apache-2.0
#include "formats/csv.hpp"

#include <fmt/format.h>
#include <utility>

namespace kw {

constexpr std::size_t most_fields = 20'000;

std::string_view CsvReader::line() const {
  std::string_view ahead = text_.substr(at_, text_.find('\n', at_) - at_);
  if (ahead.ends_with('\r'))
    ahead.remove_suffix(1);
  return ahead;
}

void CsvReader::skip_line() {
  const std::size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
  ++line_;
}

Result<CsvRow> CsvReader::row() {
  CsvRow row{.line = line_, .fields = {""}};
  bool quoted = false;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (quoted) {
      if (c == '\n')
        ++line_;
      if (c != '"')
        row.fields.back() += c;
      else if (at_ < text_.size() && text_[at_] == '"')
        row.fields.back() += text_[at_++];
      else
        quoted = false;
    } else if (c == '\n') {
      ++line_;
      break;
    } else if (c == '"' && row.fields.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      if (row.fields.size() == most_fields)
        return fail(ErrorKind::invalid_input,
                    fmt::format("the row has more than {} fields", most_fields),
                    "import a table that a profiler exported as CSV", where(row.line));
      row.fields.emplace_back();
    } else if (c != '\r') {
      row.fields.back() += c;
    }
  }
  if (quoted)
    return fail(ErrorKind::invalid_input, "a quote opens here and nothing closes it",
                "export the table again: the file seems to be cut", where(row.line));
  return row;
}

int column_of(const CsvRow& header, std::string_view title) {
  for (std::size_t i = 0; i < header.fields.size(); ++i)
    if (header.fields[i].starts_with(title))
      return static_cast<int>(i);
  return -1;
}

std::string unit_in_title(std::string_view title) {
  const std::size_t open = title.rfind('('), close = title.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return {};
  return std::string(title.substr(open + 1, close - open - 1));
}

Status same_width(const CsvReader& csv, const CsvRow& header, const CsvRow& row) {
  if (row.fields.size() == header.fields.size())
    return {};
  return fail(ErrorKind::invalid_input,
              fmt::format("the row has {} fields where the header in line {} has {}",
                          row.fields.size(), header.line, header.fields.size()),
              "export the table again: the file is cut, or another output is mixed into it",
              csv.where(row.line));
}

} // namespace kw
