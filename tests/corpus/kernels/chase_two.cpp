// SPDX-License-Identifier: Apache-2.0
// bottleneck: latency
// workload: chase_i32-walks2-n262144-steps8192
// threads: 1
// part: tuning
// Two walks side by side: still far from what the cache could deliver.
#include <cstdint>

extern "C" int kernel(const std::int32_t* next, std::int32_t* y, std::int64_t walks, std::int64_t n, std::int64_t steps) {
  std::int64_t i = 0, j = 1;
  if (walks != 2)
    return 1;
  for (std::int64_t k = 0; k < steps; ++k) {
    i = (next[i] + k) & (n - 1);
    j = (next[j] + k) & (n - 1);
  }
  y[0] = static_cast<std::int32_t>(i), y[1] = static_cast<std::int32_t>(j);
  return 0;
}
