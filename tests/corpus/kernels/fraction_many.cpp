// SPDX-License-Identifier: Apache-2.0
// bottleneck: compute
// workload: fraction_f32-n4096-steps128
// threads: 1
// part: tuning
// Eight divisions side by side in the widest vectors: the divider is never free.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t n, std::int64_t steps) {
  for (std::int64_t i = 0; i < n; i += 128) {
    V v[8], t[8];
    for (int c = 0; c < 8; ++c)
      t[c] = v[c] = *reinterpret_cast<const V*>(x + i + 16 * c);
    for (std::int64_t k = 0; k < steps; ++k)
      for (int c = 0; c < 8; ++c)
        t[c] = 1.0f / (v[c] + t[c]);
    for (int c = 0; c < 8; ++c)
      *reinterpret_cast<V*>(y + i + 16 * c) = t[c];
  }
  return 0;
}
