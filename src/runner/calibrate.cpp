// SPDX-License-Identifier: Apache-2.0
#include "runner/launch.hpp"

#include <algorithm>

namespace kw {
namespace {

constexpr std::size_t calls = 300;      // the 99th percentile then rests on three values
constexpr std::size_t least_calls = 50; // on a machine too busy for more
constexpr std::int64_t time_limit_ns = 250'000'000;

double quantile(std::vector<double>& values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

} // namespace

double Calibration::least_window_ns() const {
  return std::max({3e6, 100 * stop_ns_p99, 1000 * doorbell_ns_median});
}

Result<Calibration> calibrate_doorbell(const std::shared_ptr<SessionCore>& core) {
  LoadReport load;
  KW_TRY(Arm arm, launch_arm(core, ArmSpec{}, load));
  if (load.end != CallEnd::returned)
    return fail(ErrorKind::infrastructure,
                "the runner's own empty kernel did not load: " + load.detail,
                "run `kernwright doctor`");
  std::vector<double> doorbell, stop;
  Invocation nothing;
  const std::int64_t limit = monotonic_now_ns() + time_limit_ns;
  for (std::size_t i = 0; i < calls && (i < least_calls || monotonic_now_ns() < limit); ++i) {
    KW_TRY(const CallReport report, arm.call(nothing));
    if (report.end != CallEnd::returned)
      return fail(ErrorKind::infrastructure,
                  "the runner's own empty kernel failed: " + report.detail,
                  "run `kernwright doctor`");
    doorbell.push_back(report.ns);
    stop.push_back(arm.last_stop_ns());
  }
  Calibration c;
  c.doorbell_ns_median = quantile(doorbell, 0.5);
  c.doorbell_ns_p99 = quantile(doorbell, 0.99);
  c.stop_ns_median = quantile(stop, 0.5);
  c.stop_ns_p99 = quantile(stop, 0.99);
  return c;
}

} // namespace kw
