// SPDX-License-Identifier: Apache-2.0
// With two threads declared: the first one exits and lets the worker go on in a process that looks dead.
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

// No libc: nothing for admission to see but an instruction.
long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

} // namespace

namespace {

struct Job {
  const float* x;
  float* y;
  std::int64_t rows, n;
};

void work(void* context, std::int64_t i) {
  const auto& job = *static_cast<const Job*>(context);
  const std::int64_t half = job.rows / 2;
  softmax(job.x + i * half * job.n, job.y + i * half * job.n, half, job.n);
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  Job job{x, y, rows, n};
  kw_parallel_for(2, work, &job);
  raw_syscall(60, 0); // exit of this thread
  return 0;
}
