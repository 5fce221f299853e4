// SPDX-License-Identifier: Apache-2.0
// bottleneck: dependency
// workload: gram_f32-m48
// threads: 1
// part: held out
// One vector of sums per pair of rows: a multiply-add waits for the one before.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      V sum = {};
      for (std::int64_t k = 0; k < K; k += 16)
        sum += *reinterpret_cast<const V*>(x + i * K + k) * *reinterpret_cast<const V*>(x + j * K + k);
      float all = 0;
      for (int l = 0; l < 16; ++l)
        all += sum[l];
      y[i * m + j] = all;
    }
  return 0;
}
