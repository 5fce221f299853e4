// SPDX-License-Identifier: Apache-2.0
// bottleneck: mixed
// workload: iterate_f32-n3145728-steps40
// threads: 1
// part: held out
// Forty multiply-adds for each element of 24 MiB.
#include <cstdint>

extern "C" int kernel(const float* __restrict x, float* __restrict y, std::int64_t n, std::int64_t steps) {
  if (steps != 40)
    return 1;
  for (std::int64_t i = 0; i < n; ++i) {
    float t = x[i];
    for (int k = 0; k < 40; ++k)
      t = t * 0.75f + x[i];
    y[i] = t;
  }
  return 0;
}
