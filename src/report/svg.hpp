// SPDX-License-Identifier: Apache-2.0
// Scalable vector graphics by hand: a text builder, two scales, ticks. Looks come from CSS classes
// (style.hpp), so that one drawing serves light and dark.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw {

class Svg {
 public:
  /// `title` and `description` are what a screen reader says.
  Svg(double width, double height, std::string_view title, std::string_view description);

  void line(double x1, double y1, double x2, double y2, std::string_view css);
  void rect(double x, double y, double width, double height, std::string_view css,
            std::string_view tooltip = {}, double radius = 0);
  void circle(double x, double y, double r, std::string_view css, std::string_view tooltip = {});
  void diamond(double x, double y, double r, std::string_view css, std::string_view tooltip = {});
  void cross(double x, double y, double r, std::string_view css, std::string_view tooltip = {});
  /// Straight segments through the points.
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view css);
  /// `anchor`: start, middle or end.
  void text(double x, double y, std::string_view text, std::string_view css,
            std::string_view anchor = "start", std::string_view tooltip = {});

  /// For embedding in a page that has the style sheet.
  [[nodiscard]] std::string inline_text() const;
  /// A file of its own, style included.
  [[nodiscard]] std::string standalone() const;

 private:
  void element(const std::string& shape, std::string_view tooltip);
  double width_, height_;
  std::string head_, body_;
};

/// Maps [low, high] to [from, to], by logarithm or linearly.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  bool logarithmic = false;
  [[nodiscard]] double at(double value) const;
};

/// Round values inside [low, high], about `wanted` of them, at most 12.
[[nodiscard]] std::vector<double> nice_ticks(double low, double high, int wanted);
/// From 0, in steps that make sense on a clock.
[[nodiscard]] std::vector<double> time_ticks(double seconds, int wanted);
/// The same for a logarithmic scale with low > 0: 1-2-5 steps when the range is wide.
[[nodiscard]] std::vector<double> log_ticks(double low, double high, int wanted);

/// Roughly the width in pixels of `text` at `font_size` in a proportional font.
[[nodiscard]] double text_width(std::string_view text, double font_size);

} // namespace kw
