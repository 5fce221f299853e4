// SPDX-License-Identifier: Apache-2.0
// bottleneck: dependency
// workload: nested_root_f32-n4096-steps128
// threads: 1
// part: held out
// A square root waits for the sum, the sum for the root before.
#include <immintrin.h>
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t n, std::int64_t steps) {
  for (std::int64_t i = 0; i < n; i += 4) {
    const __m128 v = _mm_loadu_ps(x + i);
    __m128 t = v;
    for (std::int64_t k = 0; k < steps; ++k)
      t = _mm_sqrt_ps(_mm_add_ps(v, t));
    _mm_storeu_ps(y + i, t);
  }
  return 0;
}
