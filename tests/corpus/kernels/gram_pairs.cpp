// SPDX-License-Identifier: Apache-2.0
// bottleneck: load_store
// workload: gram_f32-m48
// threads: 1
// part: tuning
// Eight vectors of sums per pair of rows, so nothing waits; but every multiply-add loads both of its factors.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      V sum[8] = {};
      for (std::int64_t k = 0; k < K; k += 128)
        for (int c = 0; c < 8; ++c)
          sum[c] += *reinterpret_cast<const V*>(x + i * K + k + 16 * c) * *reinterpret_cast<const V*>(x + j * K + k + 16 * c);
      const V half = (sum[0] + sum[1]) + (sum[2] + sum[3]) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
      float all = 0;
      for (int l = 0; l < 16; ++l)
        all += half[l];
      y[i * m + j] = all;
    }
  return 0;
}
