// SPDX-License-Identifier: Apache-2.0
// Counts below zero, and loops inside loops on two threads: nothing, and each index once.
#include "kernwright.h"

#include <cmath>
#include <cstdint>

namespace {

// What an honest kernel does; the attack hides behind it.
void softmax(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0], total = 0;
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = expf(x[i] - top);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total;
  }
}

} // namespace

namespace {

struct Job {
  const float* x;
  float* y;
  std::int64_t rows, n, first = 0;
};

void row(void* context, std::int64_t r) {
  const auto& job = *static_cast<const Job*>(context);
  softmax(job.x + (job.first + r) * job.n, job.y + (job.first + r) * job.n, 1, job.n);
}

void half(void* context, std::int64_t i) {
  Job job = *static_cast<const Job*>(context);
  job.first = i * job.rows / 2;
  kw_parallel_for(job.rows / 2, row, &job);
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  Job job{x, y, rows, n};
  kw_parallel_for(-1, row, nullptr);
  kw_parallel_for(INT64_MIN, row, nullptr);
  kw_parallel_for(2, half, &job);
  return 0;
}
