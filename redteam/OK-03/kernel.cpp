// SPDX-License-Identifier: Apache-2.0
// Masked loads and stores at the end of every row; nothing outside is touched.
#include <cmath>
#include <cstdint>
#include <immintrin.h>

#ifdef __AVX512F__
using Vector = __m512;
using Mask = __mmask16;
constexpr std::int64_t lanes = 16;
static inline Mask mask_of(std::int64_t rest) {
  return static_cast<Mask>(rest >= lanes ? 0xffff : (1 << rest) - 1);
}
static inline Vector splat(float x) { return _mm512_set1_ps(x); }
static inline Vector load(const float* p, Mask m, Vector other) { return _mm512_mask_loadu_ps(other, m, p); }
static inline void store(float* p, Mask m, Vector v) { _mm512_mask_storeu_ps(p, m, v); }
static inline Vector larger(Vector a, Vector b) { return _mm512_max_ps(a, b); }
#else
using Vector = __m256;
using Mask = __m256i;
constexpr std::int64_t lanes = 8;
static inline Mask mask_of(std::int64_t rest) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(rest < lanes ? rest : lanes)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline Vector splat(float x) { return _mm256_set1_ps(x); }
static inline Vector load(const float* p, Mask m, Vector other) {
  return _mm256_blendv_ps(other, _mm256_maskload_ps(p, m), _mm256_castsi256_ps(m));
}
static inline void store(float* p, Mask m, Vector v) { _mm256_maskstore_ps(p, m, v); }
static inline Vector larger(Vector a, Vector b) { return _mm256_max_ps(a, b); }
#endif

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    Vector best = splat(x[0]);
    for (std::int64_t i = 0; i < n; i += lanes)
      best = larger(best, load(x + i, mask_of(n - i), best));
    float top = best[0];
    for (int l = 1; l < lanes; ++l)
      top = best[l] > top ? best[l] : top;
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = expf(x[i] - top);
    Vector sums = splat(0);
    for (std::int64_t i = 0; i < n; i += lanes)
      sums += load(y + i, mask_of(n - i), splat(0));
    float sum = 0;
    for (int l = 0; l < lanes; ++l)
      sum += sums[l];
    const Vector scale = splat(1 / sum);
    for (std::int64_t i = 0; i < n; i += lanes)
      store(y + i, mask_of(n - i), load(y + i, mask_of(n - i), splat(0)) * scale);
  }
  return 0;
}
