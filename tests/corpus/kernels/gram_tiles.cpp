// SPDX-License-Identifier: Apache-2.0
// bottleneck: compute
// workload: gram_f32-m48
// threads: 1
// part: held out
// Tiles of four by four pairs of rows: sixteen vectors of sums, eight loads for sixteen multiply-adds.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k;
  for (std::int64_t i = 0; i < m; i += 4)
    for (std::int64_t j = 0; j < m; j += 4) {
      V sum[4][4] = {};
      for (std::int64_t k = 0; k < K; k += 16) {
        V a[4], b[4];
  #pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) {
          a[c] = *reinterpret_cast<const V*>(x + (i + c) * K + k);
          b[c] = *reinterpret_cast<const V*>(x + (j + c) * K + k);
        }
  #pragma GCC unroll 4
        for (int p = 0; p < 4; ++p)
  #pragma GCC unroll 4
          for (int q = 0; q < 4; ++q)
            sum[p][q] += a[p] * b[q];
      }
  #pragma GCC unroll 4
      for (int p = 0; p < 4; ++p)
  #pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) {
          float all = 0;
  #pragma GCC unroll 16
          for (int l = 0; l < 16; ++l)
            all += sum[p][q][l];
          y[(i + p) * m + j + q] = all;
        }
    }
  return 0;
}
