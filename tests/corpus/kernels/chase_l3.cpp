// SPDX-License-Identifier: Apache-2.0
// bottleneck: latency
// workload: chase_i32-walks1-n4194304-steps8192
// threads: 1
// part: tuning
// A walk over 16 MiB, beyond the second-level cache: where a load goes is known when the one before has come.
#include <cstdint>

extern "C" int kernel(const std::int32_t* next, std::int32_t* y, std::int64_t walks, std::int64_t n, std::int64_t steps) {
  for (std::int64_t w = 0; w < walks; ++w) {
    std::int64_t i = w;
    for (std::int64_t k = 0; k < steps; ++k)
      i = (next[i] + k) & (n - 1);
    y[w] = static_cast<std::int32_t>(i);
  }
  return 0;
}
