// SPDX-License-Identifier: Apache-2.0
// bottleneck: memory-L2
// workload: add_f32-n81920
// threads: 1
// part: tuning
// Two vectors in, one out, 960 KiB in all.
#include <cstdint>

extern "C" int kernel(const float* __restrict x, const float* __restrict z, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = x[i] + z[i];
  return 0;
}
