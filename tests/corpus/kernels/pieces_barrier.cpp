// SPDX-License-Identifier: Apache-2.0
// bottleneck: vectorisation
// workload: pieces_f32-n16384
// threads: 1
// part: held out
// Branches with a barrier for the compiler inside: nothing it turns into vectors.
#include <cstdint>

extern "C" int kernel(const float* x, const std::int32_t* c, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (c[i] < 2) {
      if (c[i] == 0) {
        y[i] = 1 + 2 * x[i];
        continue;
      }
      asm volatile("" ::: "memory"); // an empty statement that no vector loop may hold
      y[i] = -1 + x[i] * (0.5f + x[i] * 0.25f);
      continue;
    }
    asm volatile("" ::: "memory");
    y[i] = c[i] == 2 ? x[i] * (x[i] - 3) : 2 + x[i] * (1 - x[i] * 0.5f);
  }
  return 0;
}
