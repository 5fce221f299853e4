// SPDX-License-Identifier: Apache-2.0
// bottleneck: vectorisation
// workload: row_sum_f32-rows64-n4096
// threads: 1
// part: tuning
// The sum is kept in memory, since y might be part of x for all that the compiler knows.
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r) {
    y[r] = 0;
    for (std::int64_t i = 0; i < n; ++i)
      y[r] += x[r * n + i];
  }
  return 0;
}
