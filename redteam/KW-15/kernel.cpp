// SPDX-License-Identifier: Apache-2.0
// Returns with the base of fs in its workspace: the runner's thread-local storage is gone until its thread
// begins anew.
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

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  softmax(x, y, rows, n);
  void* const own = static_cast<char*>(kw_workspace(1 << 20)) + (1 << 19);
  asm volatile("wrfsbase %0" : : "r"(own) : "memory");
  return 0;
}
