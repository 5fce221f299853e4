// SPDX-License-Identifier: Apache-2.0
// bottleneck: launch
// workload: iterate_f32-n16-steps512
// threads: 1
// part: tuning
// One vector: less than a microsecond.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t n, std::int64_t steps) {
  for (std::int64_t i = 0; i < n; i += 16) {
    const V v = *reinterpret_cast<const V*>(x + i);
    V t = v;
    for (std::int64_t k = 0; k < steps; ++k)
      t = t * 0.75f + v;
    *reinterpret_cast<V*>(y + i) = t;
  }
  return 0;
}
