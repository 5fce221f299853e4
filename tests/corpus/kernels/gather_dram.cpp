// SPDX-License-Identifier: Apache-2.0
// bottleneck: latency
// workload: gather_cold_f32-n2097152-picks16384
// threads: 1
// part: held out
// Places at random over 8 MiB that no cache holds.
#include <cstdint>

extern "C" int kernel(const float* x, const std::int32_t* at, float* y, std::int64_t n, std::int64_t picks) {
  (void)n;
  for (std::int64_t i = 0; i < picks; ++i)
    y[i] = x[at[i]];
  return 0;
}
