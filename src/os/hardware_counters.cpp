// SPDX-License-Identifier: Apache-2.0
#include "os/hardware_counters.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kw {
namespace {

constexpr std::array<std::uint64_t, 4> events = {
    PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
    PERF_COUNT_HW_CACHE_MISSES};

UniqueFd open_event(pid_t pid, std::uint64_t event) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_HARDWARE;
  attr.size = sizeof attr;
  attr.config = event;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

} // namespace

Result<HardwareCounters> HardwareCounters::open(pid_t pid) {
  HardwareCounters out;
  for (const std::uint64_t event : events) {
    out.events_.push_back(open_event(pid, event));
    if (out.events_.size() == 1 && !out.events_.front()) {
      const int why = errno;
      const bool denied = why == EACCES || why == EPERM;
      return fail(ErrorKind::unsupported,
                  fmt::format("{} ({})",
                              denied ? "the kernel does not let this user count a process's events"
                                     : "this machine offers no hardware counters",
                              std::strerror(why)),
                  denied ? "run as root, or set kernel.perf_event_paranoid to 2 or less"
                         : "profile on the bare machine, or give the virtual machine a PMU");
    }
  }
  return out;
}

HardwareCounts HardwareCounters::read() const {
  HardwareCounts out;
  const std::array<std::optional<double>*, 4> fields = {&out.cycles, &out.instructions,
                                                        &out.branch_misses, &out.cache_misses};
  for (std::size_t i = 0; i < events_.size(); ++i) {
    CounterReading reading;
    if (!events_[i] || ::read(events_[i].get(), &reading, sizeof reading) != sizeof reading)
      continue;
    *fields[i] = reading.scaled();
    if (reading.enabled_ns > 0)
      out.shared = std::min(out.shared, static_cast<double>(reading.running_ns) /
                                            static_cast<double>(reading.enabled_ns));
  }
  return out;
}

} // namespace kw
