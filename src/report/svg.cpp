// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include "report/escape.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace kw {

Svg::Svg(double width, double height, std::string_view title, std::string_view description)
    : width_(width), height_(height) {
  head_ = fmt::format("<title>{}</title><desc>{}</desc>\n", xml_text(title), xml_text(description));
}

void Svg::element(const std::string& shape, std::string_view tooltip) {
  // `shape` is "<tag attributes": a tooltip needs a closing tag of its own.
  if (tooltip.empty()) {
    body_ += shape + "/>\n";
    return;
  }
  const std::string tag = shape.substr(1, shape.find(' ') - 1);
  body_ += fmt::format("{}><title>{}</title></{}>\n", shape, xml_text(tooltip), tag);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view css) {
  element(fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"",
                      css, x1, y1, x2, y2),
          {});
}

void Svg::rect(double x, double y, double width, double height, std::string_view css,
               std::string_view tooltip, double radius) {
  element(fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                      "height=\"{:.1f}\" rx=\"{:.1f}\"",
                      css, x, y, std::max(width, 0.0), std::max(height, 0.0), radius),
          tooltip);
}

void Svg::circle(double x, double y, double r, std::string_view css, std::string_view tooltip) {
  element(
      fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"", css, x, y, r),
      tooltip);
}

void Svg::diamond(double x, double y, double r, std::string_view css, std::string_view tooltip) {
  element(fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} "
                      "{:.1f}Z\"",
                      css, x, y - r, x + r, y, x, y + r, x - r, y),
          tooltip);
}

void Svg::cross(double x, double y, double r, std::string_view css, std::string_view tooltip) {
  element(fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} "
                      "{:.1f}\"",
                      css, x - r, y - r, x + r, y + r, x - r, y + r, x + r, y - r),
          tooltip);
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view css) {
  std::string path;
  for (const auto& [x, y] : points)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
  if (!path.empty())
    element(fmt::format("<path class=\"{}\" d=\"{}\"", css, path), {});
}

void Svg::text(double x, double y, std::string_view text, std::string_view css,
               std::string_view anchor, std::string_view tooltip) {
  body_ += fmt::format(
      "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}{}</text>\n", css, x, y,
      anchor, xml_text(text), tooltip.empty() ? "" : "<title>" + xml_text(tooltip) + "</title>");
}

std::string Svg::inline_text() const {
  return fmt::format("<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
                     "viewBox=\"0 0 {:.0f} {:.0f}\">\n{}{}</svg>\n",
                     width_, height_, head_, body_);
}

std::string Svg::standalone() const {
  return fmt::format("<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
                     "width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
                     "{2}<style>{3}{4}</style>\n"
                     "<rect class=\"surface\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n{5}</svg>\n",
                     width_, height_, head_, palette_css(), chart_css(), body_);
}

double Scale::at(double value) const {
  const double share = logarithmic
                           ? std::log(std::max(value, low * 1e-6) / low) / std::log(high / low)
                           : (value - low) / (high - low);
  // Far outside values stay near the frame, so that one outlier cannot produce absurd coordinates.
  return from + std::clamp(share, -0.05, 1.05) * (to - from);
}

std::vector<double> nice_ticks(double low, double high, int wanted) {
  if (!(high > low) || !std::isfinite(low) || !std::isfinite(high))
    return {low};
  const double raw = (high - low) / std::max(wanted, 1);
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= power * factor) {
      step = power * factor;
      break;
    }
  std::vector<double> ticks;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + step * 1e-9 && ticks.size() < 12;
       ++n)
    ticks.push_back(n * step);
  return ticks;
}

std::vector<double> time_ticks(double seconds, int wanted) {
  if (!std::isfinite(seconds) || seconds <= 0)
    return {0};
  double step = seconds;
  for (const double s : {1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0,
                         3600.0, 7200.0, 14400.0, 43200.0, 86400.0})
    if (seconds / s <= wanted) {
      step = s;
      break;
    }
  std::vector<double> ticks;
  for (double n = 0; n * step <= seconds && ticks.size() < 12; ++n)
    ticks.push_back(n * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high, int wanted) {
  if (!(low > 0) || !(high > low) || !std::isfinite(high))
    return {low};
  if (high / low < 2.5)
    return nice_ticks(low, high, wanted);
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
    for (const double factor : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0}) {
      const bool coarse = factor == 1 || factor == 2 || factor == 5;
      const double tick = power * factor;
      if ((coarse || high / low < 15) && tick >= low * 0.999 && tick <= high * 1.001)
        ticks.push_back(tick);
    }
  // Too many decades: powers of ten alone.
  if (ticks.size() > 12)
    std::erase_if(ticks, [](double t) {
      const double log = std::log10(t);
      return std::abs(log - std::round(log)) > 1e-9;
    });
  return ticks;
}

double text_width(std::string_view text, double font_size) {
  return static_cast<double>(display_width(text)) * font_size * 0.56;
}

} // namespace kw
