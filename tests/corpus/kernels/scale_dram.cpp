// SPDX-License-Identifier: Apache-2.0
// bottleneck: memory-DRAM
// workload: scale_cold_f32-n1572864
// threads: 1
// part: held out
// A vector in, a vector out, 12 MiB that no cache holds.
#include <cstdint>

extern "C" int kernel(const float* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = 2.5f * x[i];
  return 0;
}
