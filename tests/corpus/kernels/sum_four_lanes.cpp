// SPDX-License-Identifier: Apache-2.0
// bottleneck: dependency
// workload: row_sum_f32-rows64-n4096
// threads: 1
// part: tuning
// One running sum of four lanes: each addition waits for the one before, on data that the second-level cache
// could deliver ten times as fast.
#include <cstdint>

using Q = float __attribute__((vector_size(16), aligned(4), may_alias)); // 4 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n) {
    Q sum = {};
    for (std::int64_t i = 0; i < n; i += 4)
      sum += *reinterpret_cast<const Q*>(x + i);
    y[r] = sum[0] + sum[1] + sum[2] + sum[3];
  }
  return 0;
}
