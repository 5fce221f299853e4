// SPDX-License-Identifier: Apache-2.0
// 64 threads by an OpenMP pragma, with one declared: the pragma means nothing here, and kw_parallel_for
// stays on one thread.
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
  std::int64_t n;
};
} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
#pragma omp parallel for num_threads(64)
  for (std::int64_t r = 0; r < rows; ++r)
    softmax(x + r * n, y + r * n, 1, n);
  Job job{x, y, n};
  kw_parallel_for(
      64,
      [](void* context, std::int64_t i) {
        const auto& j = *static_cast<const Job*>(context);
        softmax(j.x + i * j.n, j.y + i * j.n, 1, j.n);
      },
      &job);
  return 0;
}
