// SPDX-License-Identifier: Apache-2.0
// Reports follow each other in one file, with notes and blank lines between. Units stand in the
// titles, since `--timeunit` changes them. In a trace a row without a grid is a copy or a fill.
#include "base/strings.hpp"
#include "formats/csv.hpp"
#include "formats/gpu_reading.hpp"
#include "formats/profile_import.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kw {
namespace {

struct Table {
  enum class Kind { other, sum, trace } kind = Kind::other;
  CsvRow header;
};

Table::Kind kind_of(const CsvRow& row) {
  if (column_of(row, "Name") < 0)
    return Table::Kind::other;
  if (column_of(row, "Total Time") >= 0 && column_of(row, "Instances") >= 0)
    return Table::Kind::sum;
  return column_of(row, "Start") >= 0 && column_of(row, "Duration") >= 0 &&
                 column_of(row, "GrdX") >= 0
             ? Table::Kind::trace
             : Table::Kind::other;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : csv_(text, file), file_(file) {}

  Result<Profile> run() {
    Table table;
    while (csv_.more()) {
      const std::string_view line = csv_.line();
      if (table.kind == Table::Kind::other && line.find("Name") == std::string_view::npos) {
        csv_.skip_line(); // notes may hold anything, an odd quote too
        continue;
      }
      KW_TRY(const CsvRow row, csv_.row());
      if (row.blank()) {
        table.kind = Table::Kind::other;
      } else if (const Table::Kind kind = kind_of(row); kind != Table::Kind::other) {
        table = {kind, row};
        seen_ = true;
      } else if (table.kind != Table::Kind::other) {
        if (row.fields.size() == 1 && (line.starts_with("Processing ") || line.starts_with("** ") ||
                                       line.starts_with("NOTICE"))) {
          table.kind = Table::Kind::other;
          continue;
        }
        KW_CHECK(same_width(csv_, table.header, row));
        KW_CHECK(table.kind == Table::Kind::sum ? sum_row(table.header, row)
                                                : trace_row(table.header, row));
      }
    }
    return finish();
  }

 private:
  /// A number of the column whose title starts so, in ns where its title has a unit of time.
  Result<double> number(const CsvRow& header, const CsvRow& row, std::string_view title) const {
    const auto at = static_cast<std::size_t>(column_of(header, title));
    const std::optional<double> value = printed_number(row.fields.at(at));
    if (!value || *value < 0)
      return fail(ErrorKind::invalid_input,
                  fmt::format("\"{}\" is no number: `{}`", header.fields[at], row.fields[at]),
                  "export the report again with `nsys stats --format csv`", csv_.where(row.line));
    const std::string unit = unit_in_title(header.fields[at]);
    if (unit.empty())
      return *value;
    if (nanoseconds_in(unit) == 0)
      return fail(ErrorKind::invalid_input,
                  fmt::format("`{}` is no unit of time in \"{}\"", unit, header.fields[at]),
                  "export with `--timeunit nsec`", csv_.where(header.line));
    return *value * nanoseconds_in(unit);
  }
  static std::string field(const CsvRow& header, const CsvRow& row, std::string_view title) {
    const int at = column_of(header, title);
    return at < 0 ? std::string() : row.fields[static_cast<std::size_t>(at)];
  }

  Status sum_row(const CsvRow& header, const CsvRow& row) {
    KW_TRY(const double total, number(header, row, "Total Time"));
    KW_TRY(const double instances, number(header, row, "Instances"));
    if (instances < 1 || instances > 1e9)
      return fail(ErrorKind::invalid_input, "a kernel with no or too many instances",
                  "export the report again", csv_.where(row.line));
    sum_.add(field(header, row, "Name"), total / instances, {}, static_cast<int>(instances));
    return {};
  }

  Status trace_row(const CsvRow& header, const CsvRow& row) {
    KW_TRY(const double start, number(header, row, "Start"));
    KW_TRY(const double duration, number(header, row, "Duration"));
    busy_.push_back({start, start + duration});
    if (trim(field(header, row, "GrdX")).empty())
      return {};
    std::vector<ProfileFigure> figures;
    if (const auto registers = printed_number(field(header, row, "Reg/Trd")))
      figures.push_back({"registers", *registers, "per thread", trace_.source, 0.95});
    double shared = 0;
    bool known = false, coarse = false;
    for (const char* title : {"StcSMem", "DymSMem"}) {
      const int at = column_of(header, title);
      const std::optional<double> value = printed_number(field(header, row, title));
      if (at < 0 || !value)
        continue;
      const std::string unit = unit_in_title(header.fields[static_cast<std::size_t>(at)]);
      const double factor = unit.empty() ? 1 : bytes_in(unit);
      known = known || factor > 0;
      coarse = coarse || factor > 1e3; // three digits behind the point
      shared += *value * factor;
    }
    if (known)
      figures.push_back(
          {"shared_memory", shared, "bytes per block", trace_.source, coarse ? 0.5 : 0.95});
    trace_.add(field(header, row, "Name"), duration, std::move(figures));
    return {};
  }

  Result<Profile> finish() {
    if (!seen_)
      return fail(ErrorKind::invalid_input, "no table of kernels is in this file",
                  "export with `nsys stats --format csv --report cuda_gpu_trace` or "
                  "`cuda_gpu_kern_sum`",
                  file_);
    const bool traced = !trace_.kernels.empty();
    GpuReading reading = traced ? std::move(trace_) : std::move(sum_);
    add_gaps(std::move(busy_), "nsys cuda_gpu_trace", reading.figures);
    if (!traced)
      reading.missing.emplace_back(
          "registers, shared memory: `nsys stats --report cuda_gpu_trace`");
    reading.missing.emplace_back("occupancy, waves, stall reasons: counters that ncu reads");
    return dominant_kernel(std::move(reading), file_);
  }

  CsvReader csv_;
  const std::string& file_;
  GpuReading sum_{.source = "nsys cuda_gpu_kern_sum",
                  .time_confidence = 0.95,
                  .kernels = {},
                  .figures = {},
                  .missing = {}};
  GpuReading trace_{.source = "nsys cuda_gpu_trace",
                    .time_confidence = 0.95,
                    .kernels = {},
                    .figures = {},
                    .missing = {}};
  std::vector<GpuInterval> busy_;
  bool seen_ = false;
};

} // namespace

Result<Profile> read_nsys_csv(std::string_view text, const std::string& file) {
  return Reader(text, file).run();
}

} // namespace kw
