// SPDX-License-Identifier: Apache-2.0
#include "face/cli/duration.hpp"

#include <charconv>

namespace kw::cli {

Result<double> parse_duration(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc{} || scale == 0 || !(value > 0))
    return fail(ErrorKind::invalid_input, "`" + text + "` is not a duration",
                "write it as 90s, 5m or 2h");
  return value * scale;
}

} // namespace kw::cli
