// SPDX-License-Identifier: Apache-2.0
// bottleneck: mixed
// workload: iterate_f32-n81920-steps9
// threads: 1
// part: tuning
// Nine multiply-adds for each element that comes from the second-level cache and goes there: both take about
// as long on a core that does 64 operations and moves 32 bytes a cycle.
#include <cstdint>

extern "C" int kernel(const float* __restrict x, float* __restrict y, std::int64_t n, std::int64_t steps) {
  if (steps != 9)
    return 1;
  for (std::int64_t i = 0; i < n; ++i) {
    float t = x[i];
    for (int k = 0; k < 9; ++k)
      t = t * 0.75f + x[i];
    y[i] = t;
  }
  return 0;
}
