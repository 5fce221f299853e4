// SPDX-License-Identifier: Apache-2.0
#include "nki/check/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

std::string_view line_of(std::string_view source, std::int32_t line) {
  for (std::int32_t i = 1; i < line && !source.empty(); ++i) {
    const std::size_t end = source.find('\n');
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
  }
  return source.substr(0, source.find('\n'));
}

} // namespace

std::string to_text(const Diagnostic& d, std::string_view source) {
  std::string place = d.file;
  if (d.line > 0)
    place += fmt::format(":{}", d.line);
  if (d.line > 0 && d.column > 0)
    place += fmt::format(":{}", d.column);
  std::string text =
      fmt::format("{}: {} {}: {}{}\n", place, d.severity == Severity::error ? "error" : "warning",
                  d.code, d.message, d.times > 1 ? fmt::format(" ({} times)", d.times) : "");
  if (d.line > 0) {
    const std::string_view line = line_of(source, d.line);
    if (!line.empty()) {
      text += fmt::format("{:>6} | {}\n", d.line, line);
      if (d.column > 0) {
        const auto from = static_cast<std::size_t>(d.column - 1);
        const std::size_t to =
            d.end_column > d.column ? static_cast<std::size_t>(d.end_column - 1) : from + 1;
        const std::size_t length =
            std::min(to, line.size()) > from ? std::min(to, line.size()) - from : 1;
        text += fmt::format("{:>6} | {}^{}\n", "", std::string(from, ' '),
                            std::string(length - 1, '~'));
      }
    }
  }
  for (const OperandRow& o : d.operands)
    text += fmt::format("         {} = {}{}{}[{}] in {}, {} bytes per partition\n", o.parameter,
                        o.element, o.name.empty() ? "" : " ", o.name, fmt::join(o.shape, ", "),
                        o.memory, o.bytes_per_partition);
  if (!d.limit.empty())
    text += fmt::format("         limit: {}\n", d.limit);
  if (!d.edit.empty())
    text += fmt::format("         remedy: {}\n", d.edit);
  return text;
}

std::string to_text(const std::vector<Diagnostic>& all, std::string_view source) {
  std::vector<const Diagnostic*> order;
  for (const Diagnostic& d : all)
    order.push_back(&d);
  std::ranges::stable_sort(order, {}, [](const Diagnostic* d) { return d->severity; });
  std::string text;
  std::size_t errors = 0;
  for (const Diagnostic* d : order) {
    text += to_text(*d, source);
    errors += d->severity == Severity::error ? 1 : 0;
  }
  if (!all.empty())
    text += fmt::format("{} error{}, {} warning{}\n", errors, errors == 1 ? "" : "s",
                        all.size() - errors, all.size() - errors == 1 ? "" : "s");
  return text;
}

} // namespace kw::nki
