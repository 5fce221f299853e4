// SPDX-License-Identifier: Apache-2.0
// bottleneck: memory-L3
// workload: row_sum_f32-rows1536-n4096
// threads: 1
// part: held out
// Eight vectors of sums, so nothing waits for additions; 24 MiB are read.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n) {
    V sum[8] = {};
    for (std::int64_t i = 0; i < n; i += 128)
      for (int c = 0; c < 8; ++c)
        sum[c] += *reinterpret_cast<const V*>(x + i + 16 * c);
    const V all = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    float total = 0;
    for (int l = 0; l < 16; ++l)
      total += all[l];
    y[r] = total;
  }
  return 0;
}
