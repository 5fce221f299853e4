// SPDX-License-Identifier: Apache-2.0
// bottleneck: vectorisation
// workload: column_sum_f32-rows256-n1000
// threads: 1
// part: held out
// Columns one after the other: neighbours in memory belong to different sums, and the loop goes down.
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    float even = 0, odd = 0;
    for (std::int64_t r = 0; r < rows; r += 2) {
      even += x[r * n + j];
      odd += x[(r + 1) * n + j];
    }
    y[j] = even + odd;
  }
  return 0;
}
