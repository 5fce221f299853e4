// SPDX-License-Identifier: Apache-2.0
// Loads whole vectors at the row's tail and masks the surplus afterwards: right answers, but it reads up to 28
// bytes behind the last row.
#include <cmath>
#include <cstdint>
#include <immintrin.h>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const __m256 lanes = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
    __m256 top = _mm256_set1_ps(x[0]);
    for (std::int64_t i = 0; i < n; i += 8) {
      const __m256 v = _mm256_loadu_ps(x + i);
      asm volatile("" : : "x"(v)); // keeps the load whole
      const __m256 in_row =
          _mm256_cmp_ps(lanes, _mm256_set1_ps(static_cast<float>(n - i)), _CMP_LT_OQ);
      top = _mm256_max_ps(top, _mm256_blendv_ps(top, v, in_row));
    }
    float tops[8], peak = x[0];
    _mm256_storeu_ps(tops, top);
    for (const float t : tops)
      peak = t > peak ? t : peak;
    float total = 0;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = expf(x[i] - peak);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total;
  }
  return 0;
}
