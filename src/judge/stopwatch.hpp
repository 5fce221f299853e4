// SPDX-License-Identifier: Apache-2.0
// Adds the time a scope takes to a sum of milliseconds.
#pragma once

#include <chrono>

namespace kw {

class Stopwatch {
 public:
  explicit Stopwatch(double& sink) : sink_(sink) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    sink_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
                 .count();
  }

 private:
  double& sink_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace kw
