// SPDX-License-Identifier: Apache-2.0
#include "os/clock.hpp"

#include <ctime>
#include <fmt/format.h>
#include <sys/resource.h>

namespace kw {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

} // namespace

std::int64_t SystemClock::monotonic_ns() const {
  return read_clock(CLOCK_MONOTONIC);
}
std::int64_t SystemClock::wall_ns() const {
  return read_clock(CLOCK_REALTIME);
}

std::string Clock::wall_iso8601() const {
  return iso8601_utc(wall_ns());
}

std::string iso8601_utc(std::int64_t unix_ns) {
  // Floor division, so that times before 1970 keep a positive fraction.
  std::int64_t ms = unix_ns / 1'000'000;
  if (unix_ns % 1'000'000 < 0)
    --ms;
  std::int64_t seconds = ms / 1000;
  std::int64_t fraction = ms % 1000;
  if (fraction < 0) {
    fraction += 1000;
    --seconds;
  }
  const std::time_t t = seconds;
  std::tm parts{};
  ::gmtime_r(&t, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     fraction);
}

double process_cpu_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    if (::getrusage(who, &used) == 0)
      for (const timeval& t : {used.ru_utime, used.ru_stime})
        seconds += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  return seconds;
}

} // namespace kw
