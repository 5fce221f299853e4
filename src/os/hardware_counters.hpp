// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a process, where the machine and its kernel offer them (perf_event_open).
// Most virtual machines do not.
#pragma once

#include "base/result.hpp"
#include "os/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kw {

/// Events since the counters were opened, user code only; what the processor does not count is
/// empty. Where there were fewer counters than events they took turns: scaled up to the whole time.
struct HardwareCounts {
  std::optional<double> cycles, instructions, branch_misses, cache_misses;
  double shared = 1; ///< least share of the time in which an event really was counted
};

class HardwareCounters {
 public:
  /// The main thread of `pid`. Errors: unsupported, where not even cycles are counted.
  static Result<HardwareCounters> open(pid_t pid);
  [[nodiscard]] HardwareCounts read() const;

 private:
  HardwareCounters() = default;
  std::vector<UniqueFd> events_; ///< in the order of HardwareCounts; not open = not offered
};

/// What the kernel gave for one event, in its format of PERF_FORMAT_TOTAL_TIME_ENABLED | _RUNNING.
struct CounterReading {
  std::uint64_t count = 0, enabled_ns = 0, running_ns = 0;
  /// Empty: it never ran.
  [[nodiscard]] std::optional<double> scaled() const {
    if (running_ns == 0)
      return std::nullopt;
    return static_cast<double>(count) * static_cast<double>(enabled_ns) /
           static_cast<double>(running_ns);
  }
};

} // namespace kw
