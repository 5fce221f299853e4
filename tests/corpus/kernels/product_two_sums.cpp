// SPDX-License-Identifier: Apache-2.0
// bottleneck: dependency
// workload: product_f32-m96
// threads: 1
// part: tuning
// Two vectors of sums side by side, each fed once in four cycles; two units could feed eight.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* a, const float* b, float* y, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k, N = KW_AXIS_n;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < N; j += 32) {
      V s0 = {}, s1 = {};
      for (std::int64_t k = 0; k < K; ++k) {
        const float p = a[i * K + k];
        s0 += p * *reinterpret_cast<const V*>(b + k * N + j);
        s1 += p * *reinterpret_cast<const V*>(b + k * N + j + 16);
      }
      *reinterpret_cast<V*>(y + i * N + j) = s0;
      *reinterpret_cast<V*>(y + i * N + j + 16) = s1;
    }
  return 0;
}
