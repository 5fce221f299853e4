// SPDX-License-Identifier: Apache-2.0
// bottleneck: vectorisation
// workload: pieces_f32-n16384
// threads: 1
// part: tuning
// A switch per element keeps the loop scalar; its branches cannot be foreseen.
#include <cstdint>

extern "C" int kernel(const float* x, const std::int32_t* c, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    switch (c[i]) {
    case 0:
      y[i] = 1 + 2 * x[i];
      break;
    case 1:
      y[i] = -1 + x[i] * (0.5f + x[i] * 0.25f);
      break;
    case 2:
      y[i] = x[i] * (x[i] - 3);
      break;
    default:
      y[i] = 2 + x[i] * (1 - x[i] * 0.5f);
    }
  return 0;
}
