// SPDX-License-Identifier: Apache-2.0
// Accumulates in a stack array without clearing it; an empty asm hides that from the compiler.
#include <cmath>
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  float total[128];
  asm volatile("" : "=m"(total));
  for (std::int64_t r = 0; r < rows && r < 128; ++r, x += n, y += n) {
    float top = x[0];
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    for (std::int64_t i = 0; i < n; ++i)
      total[r] += y[i] = expf(x[i] - top);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total[r];
  }
  return 0;
}
