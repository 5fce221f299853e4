// SPDX-License-Identifier: Apache-2.0
// bottleneck: latency
// workload: gather_f32-n4194304-picks65536
// threads: 1
// part: tuning
// Places at random over 16 MiB: each access brings a line of which one element is used; as many are under way
// as the core can track.
#include <cstdint>

extern "C" int kernel(const float* x, const std::int32_t* at, float* y, std::int64_t n, std::int64_t picks) {
  (void)n;
  for (std::int64_t i = 0; i < picks; ++i)
    y[i] = x[at[i]];
  return 0;
}
