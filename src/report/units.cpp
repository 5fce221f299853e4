// SPDX-License-Identifier: Apache-2.0
#include "report/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

/// Three significant digits without an exponent: 1.23, 12.3, 123, 1234.
std::string three_digits(double value) {
  // The digits are counted after rounding: 9.996 is 10.0, not 10.00.
  for (const int decimals : {2, 1}) {
    const double scale = decimals == 2 ? 100 : 10;
    if (std::round(value * scale) / scale < (decimals == 2 ? 10 : 100))
      return fmt::format("{:.{}f}", value, decimals);
  }
  return fmt::format("{:.0f}", value);
}

bool absent(double value) {
  return !std::isfinite(value) || value <= 0;
}

} // namespace

std::string duration_text(double nanoseconds) {
  if (absent(nanoseconds))
    return "-";
  if (nanoseconds < 1)
    return fmt::format("{:.2g} ns", nanoseconds);
  double value = nanoseconds;
  const char* units[] = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  while (unit < 3 && std::round(value) >= 1000) {
    value /= 1000;
    ++unit;
  }
  return three_digits(value) + " " + units[unit];
}

std::string ratio_text(double ratio) {
  if (absent(ratio))
    return "-";
  return (ratio < 0.095 ? fmt::format("{:.2g}", ratio)
                        : fmt::format("{:.{}f}", ratio, ratio < 99.95 ? 2 : 0)) +
         "x";
}

std::string interval_text(double low, double high) {
  if (absent(low) || absent(high))
    return "";
  const int decimals = high < 99.95 ? 2 : 0;
  return fmt::format("[{:.{}f}, {:.{}f}]", low, decimals, high, decimals);
}

std::string percent_text(double fraction) {
  if (!std::isfinite(fraction) || fraction < 0)
    return "-";
  const double percent = fraction * 100;
  return (percent == 0     ? "0"
          : percent < 0.01 ? fmt::format("{:.1g}", percent)
          : percent < 9.95 ? fmt::format("{:.2f}", percent)
                           : fmt::format("{:.0f}", percent)) +
         " %";
}

std::string share_text(double fraction) {
  if (!std::isfinite(fraction) || fraction < 0)
    return "-";
  const double percent = fraction * 100;
  return (percent < 9.95 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent)) + " %";
}

std::string count_text(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string value_text(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.6g}", value);
}

std::string clock_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0)
    return "-";
  const auto whole = static_cast<std::uint64_t>(std::min(seconds + 0.5, 1e12));
  const std::uint64_t h = whole / 3600, m = whole / 60 % 60, s = whole % 60;
  return h > 0 ? fmt::format("{}:{:02}:{:02}", h, m, s) : fmt::format("{}:{:02}", m, s);
}

} // namespace kw
