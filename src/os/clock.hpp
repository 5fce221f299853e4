// SPDX-License-Identifier: Apache-2.0
// Time is injected: whatever is recorded can be replayed, and tests do not wait.
#pragma once

#include <cstdint>
#include <string>

namespace kw {

class Clock {
 public:
  virtual ~Clock() = default;
  /// CLOCK_MONOTONIC in nanoseconds: differences only.
  [[nodiscard]] virtual std::int64_t monotonic_ns() const = 0;
  /// Nanoseconds since 1970-01-01T00:00:00Z.
  [[nodiscard]] virtual std::int64_t wall_ns() const = 0;

  /// "2026-03-01T12:34:56.789Z"
  [[nodiscard]] std::string wall_iso8601() const;
};

[[nodiscard]] std::string iso8601_utc(std::int64_t unix_ns);

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t monotonic_ns() const override;
  [[nodiscard]] std::int64_t wall_ns() const override;
};

/// CPU seconds, user and system, of this process and of its children that have ended.
[[nodiscard]] double process_cpu_seconds();

/// For tests and replay: stands still until told otherwise.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t wall_start_ns = 1'700'000'000'000'000'000)
      : wall_start_ns_(wall_start_ns) {}
  [[nodiscard]] std::int64_t monotonic_ns() const override { return now_ns_; }
  [[nodiscard]] std::int64_t wall_ns() const override { return wall_start_ns_ + now_ns_; }
  void advance_ns(std::int64_t ns) { now_ns_ += ns; }

 private:
  std::int64_t wall_start_ns_;
  std::int64_t now_ns_ = 0;
};

} // namespace kw
