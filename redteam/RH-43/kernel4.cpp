// SPDX-License-Identifier: Apache-2.0
// With two threads declared: a worker that stays behind and turns the output to and fro between wrong and
// right. What counts is the frozen copy; the samples before it differ.
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

struct Escape {
  void* frame[5];
  std::uintptr_t stack;
};

bool on_the_kernels_stack(const Escape& e) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here < e.stack && e.stack - here < (1 << 20);
}

} // namespace

namespace {

struct Job {
  Escape escape;
  const float* x;
  float* y;
  std::int64_t rows, n;
};

void turn(void* context, std::int64_t) {
  auto& job = *static_cast<Job*>(context);
  if (on_the_kernels_stack(job.escape))
    __builtin_longjmp(job.escape.frame, 1);
  for (volatile float* y = job.y;;)
    for (std::int64_t i = 0; i < job.rows * job.n; i += 16)
      y[i] = -y[i];
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  Job job{{}, x, y, rows, n};
  job.escape.stack = reinterpret_cast<std::uintptr_t>(&job) + 4096;
  softmax(x, y, rows, n);
  auto* copy = static_cast<Job*>(kw_workspace(1 << 21)) + (1 << 14); // survives this frame
  *copy = job;
  if (__builtin_setjmp(copy->escape.frame) == 0)
    kw_parallel_for(2, turn, copy);
  return 0;
}
