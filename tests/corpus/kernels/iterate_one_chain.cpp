// SPDX-License-Identifier: Apache-2.0
// bottleneck: dependency
// workload: iterate_f32-n3840-steps512
// threads: 1
// part: tuning
// Every multiply-add of a vector waits for the one before; the next vector is too far away to begin meanwhile.
#include <cstdint>

#ifdef __AVX512F__
constexpr int W = 16; // lanes; wider ones than the CPU has would pass through memory
#else
constexpr int W = 8;
#endif
using V = float __attribute__((vector_size(4 * W), aligned(4), may_alias));

extern "C" int kernel(const float* x, float* y, std::int64_t n, std::int64_t steps) {
  for (std::int64_t i = 0; i < n; i += W) {
    const V v = *reinterpret_cast<const V*>(x + i);
    V t = v;
    for (std::int64_t k = 0; k < steps; ++k)
      t = t * 0.75f + v;
    *reinterpret_cast<V*>(y + i) = t;
  }
  return 0;
}
