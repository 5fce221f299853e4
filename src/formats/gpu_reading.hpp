// SPDX-License-Identifier: Apache-2.0
// What the readers of GPU profilers' exports have in common: numbers and units as such tools print
// them, and readings by kernel, which become one profile of the kernel that takes most of the time.
#pragma once

#include "base/result.hpp"
#include "model/profile.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// A number with or without thousand separators: "1,234,567.5", "1.234,5", "1 234", "1'234". A lone
/// comma groups if exactly three digits follow each, else it is the decimal point. Empty for
/// anything else ("n/a", "(!) nan", infinities).
[[nodiscard]] std::optional<double> printed_number(std::string_view text);

/// Factor to nanoseconds of "ns", "nsecond", "us", "usecond", ...; 0 for what is no unit of time.
[[nodiscard]] double nanoseconds_in(std::string_view unit);
/// Factor to bytes of "byte", "byte/block", "Kbyte/block", "MB", "KiB"; prefixes without an i are
/// powers of 1000. 0 for what is no unit of size.
[[nodiscard]] double bytes_in(std::string_view unit);

/// What a tool says about one kernel, launches taken together.
struct KernelReading {
  double total_ns = 0;   ///< of all launches; 0 = not known
  double slowest_ns = 0; ///< the launch that `figures` describe
  int launches = 0;
  std::vector<ProfileFigure> figures;
};

struct GpuReading {
  std::string source;                           ///< "ncu raw page"
  double time_confidence = 0.9;                 ///< of durations
  std::map<std::string, KernelReading> kernels; ///< by name
  std::vector<ProfileFigure> figures;           ///< of the whole timeline
  std::vector<std::string> missing;

  /// Adds one launch (or `launches` of `ns` each); the slowest launch's figures are kept.
  void add(const std::string& kernel, double ns, std::vector<ProfileFigure> figures,
           int launches = 1);
};

/// Half-open interval on the GPU's timeline, ns.
struct GpuInterval {
  double begin = 0, end = 0;
};
/// "idle_share" of the time from first to last and "launch_gap", the median pause, of work in any
/// order that may overlap. Fewer than two intervals say nothing.
void add_gaps(std::vector<GpuInterval> busy, const std::string& source,
              std::vector<ProfileFigure>& figures);

/// The profile of the kernel with most time, not yet classified. Error: no kernel in `where`.
Result<Profile> dominant_kernel(GpuReading reading, const std::string& where);

} // namespace kw
