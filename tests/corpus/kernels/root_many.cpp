// SPDX-License-Identifier: Apache-2.0
// bottleneck: compute
// workload: nested_root_f32-n4096-steps128
// threads: 1
// part: held out
// Eight square roots side by side: the unit that takes roots is never free.
#include <immintrin.h>
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t n, std::int64_t steps) {
  for (std::int64_t i = 0; i < n; i += 64) {
    __m256 v[8], t[8];
    for (int c = 0; c < 8; ++c)
      t[c] = v[c] = _mm256_loadu_ps(x + i + 8 * c);
    for (std::int64_t k = 0; k < steps; ++k)
      for (int c = 0; c < 8; ++c)
        t[c] = _mm256_sqrt_ps(_mm256_add_ps(v[c], t[c]));
    for (int c = 0; c < 8; ++c)
      _mm256_storeu_ps(y + i + 8 * c, t[c]);
  }
  return 0;
}
