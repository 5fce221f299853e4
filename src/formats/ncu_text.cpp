// SPDX-License-Identifier: Apache-2.0
// A launch is a line "kernel(args) (grid)x(block), Context 1, Stream 7, ..." (older versions put a
// date before the context); its sections hold lines of title, unit (may be absent) and value.
#include "base/strings.hpp"
#include "formats/csv.hpp"
#include "formats/gpu_reading.hpp"
#include "formats/ncu_metrics.hpp"
#include "formats/profile_import.hpp"

#include <optional>
#include <utility>

namespace kw {
namespace {

/// The kernel's name of such a line, "" for others.
std::string kernel_of(std::string_view line) {
  const std::size_t context = line.find(", Context ");
  if (context == std::string_view::npos || line.find(", Stream ") == std::string_view::npos)
    return {};
  std::string_view name = line.substr(0, context);
  if (const std::size_t shape = name.rfind(")x("); shape != std::string_view::npos) {
    name = name.substr(0, name.rfind('(', shape));
  } else if (const std::size_t date = name.rfind("), "); date != std::string_view::npos) {
    name = name.substr(0, date + 1);
  }
  return std::string(trim(name));
}

} // namespace

Result<Profile> read_ncu_text(std::string_view text, const std::string& file) {
  GpuReading reading{.source = "ncu details page",
                     .time_confidence = 0.85, // three digits are printed
                     .kernels = {},
                     .figures = {},
                     .missing = {"stall reasons: this page has none, `ncu --csv --page raw` with "
                                 "the set `full` has"}};
  CsvReader lines(text, file); // for its lines alone
  std::string kernel;
  std::optional<NcuLaunch> launch;
  int started = 0;
  bool measured = false;
  const auto close = [&]() -> Status {
    if (!launch)
      return {};
    if (!measured)
      return fail(ErrorKind::invalid_input, "no metric that is known follows this kernel",
                  "export with `ncu --page details` and the set `detailed` or `full`; the file may "
                  "be cut",
                  lines.where(started));
    reading.add(kernel, launch->ns(), launch->figures());
    return {};
  };
  for (; lines.more(); lines.skip_line()) {
    const std::string_view line = trim(lines.line());
    if (std::string name = kernel_of(line); !name.empty()) {
      KW_CHECK(close());
      kernel = std::move(name);
      launch.emplace(reading.source);
      measured = false;
      started = lines.line_number();
      continue;
    }
    const std::size_t title = launch ? NcuLaunch::title_length(line) : 0;
    if (title == 0)
      continue;
    const std::string_view rest = trim(line.substr(title));
    const std::size_t gap = rest.rfind(' ');
    const std::string_view unit = gap == std::string_view::npos ? "" : trim(rest.substr(0, gap));
    const std::string_view value = gap == std::string_view::npos ? rest : rest.substr(gap + 1);
    if (unit.find(' ') != std::string_view::npos || !printed_number(value))
      continue; // a sentence of a rule
    launch->metric(line.substr(0, title), unit, value);
    measured = true;
  }
  KW_CHECK(close());
  return dominant_kernel(std::move(reading), file);
}

} // namespace kw
