// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/pipeline_estimate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace kw {
namespace {

constexpr double most = 1e9; // cycles and turns: anything above is no loop

std::string_view without_blanks(std::string_view s) {
  const std::size_t first = s.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view()
                                         : s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

std::optional<double> number_at(std::string_view text, double limit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc{} && std::isfinite(value) && value >= 0 && value <= limit;
  return good ? std::optional(value) : std::nullopt;
}

/// "Total Cycles:      409", the first such line. Whether it is one.
bool summary(std::string_view line, std::string_view key, std::optional<double>& to) {
  if (to || !line.starts_with(key))
    return false;
  to = number_at(without_blanks(line.substr(key.size())), most);
  return true;
}

/// "Resource Pressure       [ 20.78% ]" -> 0.2078
std::optional<double> share(std::string_view line) {
  const std::size_t open = line.find("[ ");
  const std::size_t percent = line.find("% ]");
  if (open == std::string_view::npos || percent == std::string_view::npos)
    return std::nullopt;
  const auto value = number_at(line.substr(open + 2), 100);
  return value ? std::optional(*value / 100) : std::nullopt;
}

bool is_name(std::string_view s) {
  return !s.empty() && s.size() <= 40 && std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

} // namespace

Result<PipelineEstimate> read_pipeline_estimate(std::string_view text) {
  PipelineEstimate out;
  std::optional<double> turns, cycles, throughput;
  double port_share = 0;
  bool in_resources = false;
  while (!text.empty()) {
    const std::string_view line = without_blanks(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (summary(line, "Iterations:", turns) || summary(line, "Total Cycles:", cycles) ||
        summary(line, "Block RThroughput:", throughput))
      continue;
    if (line.starts_with("Resource Pressure"))
      in_resources = true, out.ports = share(line).value_or(0);
    else if (line.starts_with("Data Dependencies:"))
      in_resources = false, out.dependency = share(line).value_or(0);
    else if (in_resources && line.starts_with("- ")) {
      const std::string_view name = line.substr(2, line.find_first_of(" \t[", 2) - 2);
      const double of_port = share(line).value_or(0);
      if (is_name(name) && of_port > port_share)
        port_share = of_port, out.port = std::string(name);
    } else {
      in_resources = in_resources && !line.empty();
    }
  }
  for (const auto& [what, value] : {std::pair{"Iterations", turns},
                                    {"Total Cycles", cycles},
                                    {"Block RThroughput", throughput}})
    if (!value || *value <= 0)
      return fail(ErrorKind::invalid_input, fmt::format("llvm-mca did not print `{}`", what),
                  "its output may have changed: use version 14 to 19");
  out.cycles = *cycles / *turns;
  out.throughput = *throughput;
  return out;
}

} // namespace kw
