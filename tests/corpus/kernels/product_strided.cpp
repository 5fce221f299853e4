// SPDX-License-Identifier: Apache-2.0
// bottleneck: vectorisation
// workload: product_f32-m96
// threads: 1
// part: tuning
// Dot products down the columns of b, in order: strided loads, one sum.
#include <cstdint>

extern "C" int kernel(const float* a, const float* b, float* y, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k, N = KW_AXIS_n;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < K; ++k)
        sum += a[i * K + k] * b[k * N + j];
      y[i * N + j] = sum;
    }
  return 0;
}
