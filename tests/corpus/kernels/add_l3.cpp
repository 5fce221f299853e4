// SPDX-License-Identifier: Apache-2.0
// bottleneck: memory-L3
// workload: add_f32-n2097152
// threads: 1
// part: held out
// Two vectors in, one out, 24 MiB in all.
#include <cstdint>

extern "C" int kernel(const float* __restrict x, const float* __restrict z, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = x[i] + z[i];
  return 0;
}
