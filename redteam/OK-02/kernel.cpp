// SPDX-License-Identifier: Apache-2.0
// Vectors of eight, the rest of a row one by one; the row length is no multiple of eight.
#include <cmath>
#include <cstdint>
#include <immintrin.h>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0];
    std::int64_t i = 0;
    if (n >= 8) {
      __m256 best = _mm256_loadu_ps(x);
      for (; i + 8 <= n; i += 8)
        best = _mm256_max_ps(best, _mm256_loadu_ps(x + i));
      alignas(32) float lane[8];
      _mm256_store_ps(lane, best);
      for (float v : lane)
        top = v > top ? v : top;
    }
    for (; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    float total = 0;
    for (i = 0; i < n; ++i)
      total += y[i] = expf(x[i] - top);
    const __m256 scale = _mm256_set1_ps(1 / total);
    for (i = 0; i + 8 <= n; i += 8)
      _mm256_storeu_ps(y + i, _mm256_mul_ps(_mm256_loadu_ps(y + i), scale));
    for (; i < n; ++i)
      y[i] *= 1 / total;
  }
  return 0;
}
