// SPDX-License-Identifier: Apache-2.0
// Text for terminals: colour, display width, wrapping, aligned tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw {

enum class Colour { none, dim, bold, good, bad, warn, accent };

/// ANSI colour around `text` when `enabled` (the stream is a terminal and the user did not refuse).
[[nodiscard]] std::string paint(std::string_view text, Colour colour, bool enabled);

/// Columns that UTF-8 text takes on a terminal; colour codes count nothing, wide characters two.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Breaks at spaces so that no line is wider than `width`, unless a single word is.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Cuts to `width` columns, the last of them an ellipsis if anything was cut.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t width);

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  std::size_t max_width = 0; ///< longer cells are shortened; 0 = no limit
};

/// Rows under titles, two spaces between columns, no trailing blanks. Cells are made safe for a
/// terminal.
class Table {
 public:
  explicit Table(std::vector<Column> columns);

  struct Cell {
    std::string text;
    Colour colour = Colour::none;
    Cell(std::string t, Colour c = Colour::none) : text(std::move(t)), colour(c) {}
    Cell(const char* t) : text(t) {}
  };
  void row(std::vector<Cell> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Every line starts with `indent` blanks and ends with a newline.
  [[nodiscard]] std::string text(bool colour = false, std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

} // namespace kw
