// SPDX-License-Identifier: Apache-2.0
// One call, judge side (inside this folder only).
#pragma once

#include "runner/session_core.hpp"

#include <atomic>
#include <thread>

namespace kw {

Result<CallReport> call_arm(Arm::State& arm, const Invocation& invocation);

/// Lays the outputs out, poisons them and writes the command block for the arm.
Status prepare_command(Arm::State& arm, const Invocation& invocation);

/// Random cache lines of the outputs, copied while the arm may still run.
class EarlySample {
 public:
  /// Chooses the lines; everything when the outputs are small.
  EarlySample(Arm::State& arm);
  void take(); ///< right after done
  /// Index of the first output whose lines differ in the frozen copies, if any.
  [[nodiscard]] std::optional<std::size_t> first_difference() const;

 private:
  struct Line {
    std::size_t output, offset, bytes; ///< within the output
  };
  Arm::State& arm_;
  std::vector<Line> lines_;
};

/// Sleeps on an arm's `done` in place of a judge that watches: how many a futex wakes, an arm can
/// ask.
class Decoy {
 public:
  explicit Decoy(const std::atomic<std::uint32_t>& done);
  Decoy(const Decoy&) = delete;
  Decoy& operator=(const Decoy&) = delete;
  ~Decoy();

 private:
  const std::atomic<std::uint32_t>& done_;
  std::atomic<bool> stop_{false};
  std::atomic<int> tid_{0};
  std::thread thread_;
};

/// Every thread of a stopped candidate begins the runner's loop anew as soon as it is continued.
/// False if one of them is gone.
[[nodiscard]] bool reset_threads(const Arm::State& arm);

/// Thread ids of a process, the first thread first, the others in the order they were made.
[[nodiscard]] std::vector<pid_t> list_threads(pid_t pid);

} // namespace kw
