// SPDX-License-Identifier: Apache-2.0
// bottleneck: dependency
// workload: fraction_f32-n4096-steps128
// threads: 1
// part: tuning
// A division waits for the sum, the sum for the division before: the divider could take another every few
// cycles.
#include <cstdint>

using Q = float __attribute__((vector_size(16), aligned(4), may_alias)); // 4 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t n, std::int64_t steps) {
  for (std::int64_t i = 0; i < n; i += 4) {
    const Q v = *reinterpret_cast<const Q*>(x + i);
    Q t = v;
    for (std::int64_t k = 0; k < steps; ++k)
      t = 1.0f / (v + t);
    *reinterpret_cast<Q*>(y + i) = t;
  }
  return 0;
}
