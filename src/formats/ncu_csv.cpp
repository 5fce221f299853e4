// SPDX-License-Identifier: Apache-2.0
// The header follows whatever the program and ncu ("==PROF== ...") printed. The raw page has a row
// of units below its header.
#include "formats/csv.hpp"
#include "formats/gpu_reading.hpp"
#include "formats/ncu_metrics.hpp"
#include "formats/profile_import.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace kw {
namespace {

constexpr const char* no_stalls =
    "stall reasons: this page has none, `ncu --csv --page raw` with the set `full` has";

using Launches = std::map<std::pair<std::string, std::string>, NcuLaunch>; // by id and kernel

Result<Profile> finish(const Launches& launches, GpuReading reading, const std::string& file) {
  bool stalls = false;
  for (const auto& [key, launch] : launches) {
    std::vector<ProfileFigure> figures = launch.figures();
    stalls = stalls || std::ranges::any_of(figures, [](const ProfileFigure& f) {
               return f.name.starts_with("stall_");
             });
    reading.add(key.second, launch.ns(), std::move(figures));
  }
  if (!stalls)
    reading.missing.emplace_back(no_stalls);
  return dominant_kernel(std::move(reading), file);
}

} // namespace

bool is_ncu_header(std::string_view line) {
  if (!line.starts_with("\"ID\",") && !line.starts_with("ID,"))
    return false;
  return line.find("Kernel Name") != std::string_view::npos;
}

Result<Profile> read_ncu_csv(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  while (csv.more() && !is_ncu_header(csv.line()))
    csv.skip_line();
  if (!csv.more())
    return fail(ErrorKind::invalid_input,
                "no line starts ncu's table (\"ID\", ... \"Kernel Name\")",
                "export with `ncu --import report.ncu-rep --csv --page raw`", file);
  KW_TRY(const CsvRow header, csv.row());
  const auto kernel = static_cast<std::size_t>(column_of(header, "Kernel Name"));
  if (kernel >= header.fields.size())
    return fail(ErrorKind::invalid_input, "the header has no column \"Kernel Name\"",
                "export the table again: the header seems to be cut", csv.where(header.line));
  const int name = column_of(header, "Metric Name"), unit = column_of(header, "Metric Unit"),
            value = column_of(header, "Metric Value");
  const bool details = name >= 0;
  if (details && (unit < 0 || value < 0))
    return fail(ErrorKind::invalid_input, "the header has \"Metric Name\", but no unit or no value",
                "export the table again with `--csv --page details`", csv.where(header.line));
  GpuReading reading{.source = details ? "ncu details page" : "ncu raw page",
                     .time_confidence = 0.9,
                     .kernels = {},
                     .figures = {},
                     .missing = {}};
  std::optional<CsvRow> units;
  Launches launches;
  while (csv.more()) {
    if (csv.line().empty() || csv.line().starts_with("==")) {
      csv.skip_line();
      continue;
    }
    KW_TRY(CsvRow row, csv.row());
    KW_CHECK(same_width(csv, header, row));
    if (!details && !units) {
      units = std::move(row);
      if (units->fields[0].empty())
        continue;
      return fail(ErrorKind::invalid_input, "the row of units below the header is missing",
                  "export the whole table with `ncu --csv --page raw`", csv.where(units->line));
    }
    NcuLaunch& launch =
        launches.try_emplace({row.fields[0], row.fields[kernel]}, reading.source).first->second;
    const auto at = [&](int column) -> std::string& {
      return row.fields[static_cast<std::size_t>(column)];
    };
    if (details)
      launch.metric(at(name), at(unit), at(value));
    else
      for (std::size_t i = kernel + 1; i < row.fields.size(); ++i)
        launch.metric(header.fields[i], units->fields[i], row.fields[i]);
  }
  return finish(launches, std::move(reading), file);
}

} // namespace kw
