// SPDX-License-Identifier: Apache-2.0
// bottleneck: memory-L3
// workload: scale_f32-n3145728
// threads: 1
// part: tuning
// A vector in, a vector out, 24 MiB in all.
#include <cstdint>

extern "C" int kernel(const float* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = 2.5f * x[i];
  return 0;
}
