// SPDX-License-Identifier: Apache-2.0
// With two threads declared: a worker that never comes back from kw_parallel_for, so as to burn while the
// other arm is timed. Its process is frozen meanwhile.
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

void stay(void* context, std::int64_t) {
  auto& escape = *static_cast<Escape*>(context);
  if (on_the_kernels_stack(escape))
    __builtin_longjmp(escape.frame, 1); // the caller gets away
  for (;;)
    asm volatile("pause"); // the worker stays
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  Escape escape;
  escape.stack = reinterpret_cast<std::uintptr_t>(&escape) + 4096;
  softmax(x, y, rows, n);
  if (__builtin_setjmp(escape.frame) == 0)
    kw_parallel_for(2, stay, &escape);
  return 0;
}
