// SPDX-License-Identifier: Apache-2.0
// Masked loads and stores at the end of every row; nothing outside is touched.
#include <cmath>
#include <cstdint>
#include <immintrin.h>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const auto mask = [n](std::int64_t i) {
      return static_cast<__mmask16>(n - i >= 16 ? 0xffff : (1 << (n - i)) - 1);
    };
    __m512 best = _mm512_set1_ps(x[0]);
    for (std::int64_t i = 0; i < n; i += 16)
      best = _mm512_mask_max_ps(best, mask(i), best, _mm512_maskz_loadu_ps(mask(i), x + i));
    const float top = _mm512_reduce_max_ps(best);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = expf(x[i] - top);
    __m512 sum = _mm512_setzero_ps();
    for (std::int64_t i = 0; i < n; i += 16)
      sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask(i), y + i));
    const __m512 scale = _mm512_set1_ps(1 / _mm512_reduce_add_ps(sum));
    for (std::int64_t i = 0; i < n; i += 16)
      _mm512_mask_storeu_ps(y + i, mask(i), _mm512_mul_ps(_mm512_maskz_loadu_ps(mask(i), y + i), scale));
  }
  return 0;
}
