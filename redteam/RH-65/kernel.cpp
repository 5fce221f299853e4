// SPDX-License-Identifier: Apache-2.0
// Loads whole vectors at the row's tail and masks the surplus afterwards: right answers, but it reads up to 28
// bytes behind the last row.
#include <cmath>
#include <cstdint>
#include <immintrin.h>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    __m512 top = _mm512_set1_ps(x[0]);
    for (std::int64_t i = 0; i < n; i += 16) {
      const std::int64_t left = n - i;
      const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
      top = _mm512_mask_max_ps(top, mask, top, _mm512_loadu_ps(x + i));
      asm volatile("" : : "v"(_mm512_loadu_ps(x + i))); // keeps the load whole
    }
    const float peak = _mm512_reduce_max_ps(top);
    float total = 0;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = expf(x[i] - peak);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total;
  }
  return 0;
}
