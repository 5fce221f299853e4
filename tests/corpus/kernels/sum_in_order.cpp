// SPDX-License-Identifier: Apache-2.0
// bottleneck: vectorisation
// workload: row_sum_f32-rows64-n4096
// threads: 1
// part: tuning
// A sum in the order of the source, which the compiler may not change.
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      sum += x[i];
    y[r] = sum;
  }
  return 0;
}
