// SPDX-License-Identifier: Apache-2.0
// Comma-separated values as profilers write them (RFC 4180, quoted or not), with line numbers.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct CsvRow {
  int line = 0; ///< of its first character, from 1
  std::vector<std::string> fields;
  [[nodiscard]] bool blank() const { return fields.size() == 1 && fields[0].empty(); }
};

/// Reads one row after another; a quoted field may hold commas, line breaks and doubled quotes.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  [[nodiscard]] bool more() const { return at_ < text_.size(); }
  /// The line ahead as it stands, without its end.
  [[nodiscard]] std::string_view line() const;
  void skip_line();
  /// Errors: a quote that nothing closes, more than 20,000 fields.
  Result<CsvRow> row();
  [[nodiscard]] std::string where(int line) const { return file_ + ":" + std::to_string(line); }
  [[nodiscard]] int line_number() const { return line_; }

 private:
  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  int line_ = 1;
};

/// Index of the first column whose title starts with `title`, or -1.
[[nodiscard]] int column_of(const CsvRow& header, std::string_view title);
/// "us" of a title "Duration (us)", or "".
[[nodiscard]] std::string unit_in_title(std::string_view title);
/// A row shorter or longer than its header: cut or mixed with other output.
[[nodiscard]] Status same_width(const CsvReader& csv, const CsvRow& header, const CsvRow& row);

} // namespace kw
