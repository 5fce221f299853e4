// SPDX-License-Identifier: Apache-2.0
// Loads the last aligned vector whole. What lies behind the input is in the same 64-byte block and
// is not used: right answers, no fault, on any placement. Only a build with sanitizers can tell.
#include <cmath>
#include <cstdint>
#include <immintrin.h>

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
  const __m256 last = _mm256_loadu_ps(x + rows * n / 8 * 8);
  asm volatile("" : : "x"(last)); // keeps the load
  return 0;
}
