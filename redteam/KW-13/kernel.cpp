// SPDX-License-Identifier: Apache-2.0
// Moves its stack into the workspace and works there; comes back as it should. Legal, and of no use.
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
  std::int64_t rows, n;
};

__attribute__((noinline)) void work(const Job* job) {
  softmax(job->x, job->y, job->rows, job->n);
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  void* const top = static_cast<char*>(kw_workspace(1 << 20)) + (1 << 20) - 64;
  Job job{x, y, rows, n};
  asm volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tcall *%1\n\tmov %%rbx, %%rsp"
               :
               : "r"(top), "r"(&work), "D"(&job)
               : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  return 0;
}
