// SPDX-License-Identifier: Apache-2.0
// bottleneck: compute
// workload: product_f32-m96
// threads: 1
// part: tuning
// Tiles of eight rows and 32 columns kept in registers: sixteen vectors of sums, two loads and eight
// broadcasts for sixteen multiply-adds.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* a, const float* b, float* y, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k, N = KW_AXIS_n;
  for (std::int64_t j = 0; j < N; j += 32)
    for (std::int64_t i = 0; i < m; i += 8) {
      V sum[8][2] = {};
      for (std::int64_t k = 0; k < K; ++k) {
        const V b0 = *reinterpret_cast<const V*>(b + k * N + j), b1 = *reinterpret_cast<const V*>(b + k * N + j + 16);
  #pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) {
          sum[r][0] += a[(i + r) * K + k] * b0;
          sum[r][1] += a[(i + r) * K + k] * b1;
        }
      }
  #pragma GCC unroll 8
      for (int r = 0; r < 8; ++r) {
        *reinterpret_cast<V*>(y + (i + r) * N + j) = sum[r][0];
        *reinterpret_cast<V*>(y + (i + r) * N + j + 16) = sum[r][1];
      }
    }
  return 0;
}
