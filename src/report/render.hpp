// SPDX-License-Identifier: Apache-2.0
// One OptimizeReport, four forms. All of them escape every text of the report.
#pragma once

#include "report/optimize_report.hpp"

#include "stats/aggregate.hpp"

#include <string>

namespace kw {

/// One self-contained page: no scripts, nothing loaded from anywhere (a Content-Security-Policy
/// says so to the browser), light and dark. Well-formed XML too, so that tests can parse it.
[[nodiscard]] std::string html_report(const OptimizeReport& report);

/// For a pull request: the summary, a table per workload, the command that replays.
[[nodiscard]] std::string markdown_report(const OptimizeReport& report);

/// RFC 4180, one row per workload; times in nanoseconds, full precision.
[[nodiscard]] std::string workloads_csv(const OptimizeReport& report);
/// One row per probe.
[[nodiscard]] std::string probes_csv(const OptimizeReport& report);

/// For a terminal: the closing table of `optimize`, one line per workload.
[[nodiscard]] std::string workloads_table(const OptimizeReport& report, bool colour);
/// The champion against the baseline as one figure, several ways, each with its name: two lines,
/// "" where nothing was timed.
[[nodiscard]] std::string aggregates_text(const OptimizeReport& report);
/// Over the workloads that were timed, in nanoseconds.
[[nodiscard]] Aggregates aggregates(const OptimizeReport& report);

/// "86 probes: 71 correct · 9 wrong · 4 build · 2 crash"
[[nodiscard]] std::string probe_counts(const OptimizeReport& report);

/// Weighted geometric mean of bound_fraction over the workloads that have one; 0 without any.
[[nodiscard]] double bound_fraction(const OptimizeReport& report);

} // namespace kw
