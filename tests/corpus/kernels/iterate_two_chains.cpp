// SPDX-License-Identifier: Apache-2.0
// bottleneck: dependency
// workload: iterate_f32-n3840-steps512
// threads: 1
// part: held out
// Two chains of multiply-adds side by side; eight would keep two units with a latency of four cycles busy.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t n, std::int64_t steps) {
  for (std::int64_t i = 0; i < n; i += 32) {
    const V v = *reinterpret_cast<const V*>(x + i), w = *reinterpret_cast<const V*>(x + i + 16);
    V t = v, u = w;
    for (std::int64_t k = 0; k < steps; ++k)
      t = t * 0.75f + v, u = u * 0.75f + w;
    *reinterpret_cast<V*>(y + i) = t;
    *reinterpret_cast<V*>(y + i + 16) = u;
  }
  return 0;
}
