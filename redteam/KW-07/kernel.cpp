// SPDX-License-Identifier: Apache-2.0
// With two threads declared: the caller leaves kw_parallel_for by a jump as soon as the worker has begun,
// and returns; the worker computes while the judge looks.
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
  void* frame[5]; // for the caller to get away
  std::uintptr_t stack;
  const float* x;
  float* y;
  std::int64_t rows, n;
  volatile int begun;
};

} // namespace

namespace {

void later(void* context, std::int64_t) {
  auto& job = *static_cast<Job*>(context);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here < job.stack && job.stack - here < (1 << 20)) {
    while (job.begun == 0)
      asm volatile("pause");
    __builtin_longjmp(job.frame, 1);
  }
  job.begun = 1;
  for (;;)
    softmax(job.x, job.y, job.rows, job.n);
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  auto* job = static_cast<Job*>(kw_workspace(4096));
  *job = {{}, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 4096, x, y, rows, n, 0};
  if (__builtin_setjmp(job->frame) == 0)
    kw_parallel_for(2, later, job);
  return 0;
}
