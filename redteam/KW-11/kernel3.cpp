// SPDX-License-Identifier: Apache-2.0
// With two threads declared: 2^63 - 1 indices, left by a jump. The next call finds a fresh loop.
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

void leave(void* context, std::int64_t) {
  auto& escape = *static_cast<Escape*>(context);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here < escape.stack && escape.stack - here < (1 << 20))
    __builtin_longjmp(escape.frame, 1);
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  auto* escape = static_cast<Escape*>(kw_workspace(4096));
  escape->stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 4096;
  softmax(x, y, rows, n);
  if (__builtin_setjmp(escape->frame) == 0)
    kw_parallel_for(INT64_MAX, leave, escape);
  return 0;
}
