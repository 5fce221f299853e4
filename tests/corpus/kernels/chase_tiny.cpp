// SPDX-License-Identifier: Apache-2.0
// bottleneck: launch
// workload: chase_i32-walks1-n8192-steps128
// threads: 1
// part: held out
// A short walk in the first-level cache.
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
