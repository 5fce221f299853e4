// SPDX-License-Identifier: Apache-2.0
// bottleneck: compute
// workload: iterate_f32-n3840-steps512
// threads: 1
// part: held out
// Twelve chains of multiply-adds side by side, as many as there are registers for.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t n, std::int64_t steps) {
  for (std::int64_t i = 0; i < n; i += 192) {
    const V v0 = *reinterpret_cast<const V*>(x + i + 0);
    const V v1 = *reinterpret_cast<const V*>(x + i + 16);
    const V v2 = *reinterpret_cast<const V*>(x + i + 32);
    const V v3 = *reinterpret_cast<const V*>(x + i + 48);
    const V v4 = *reinterpret_cast<const V*>(x + i + 64);
    const V v5 = *reinterpret_cast<const V*>(x + i + 80);
    const V v6 = *reinterpret_cast<const V*>(x + i + 96);
    const V v7 = *reinterpret_cast<const V*>(x + i + 112);
    const V v8 = *reinterpret_cast<const V*>(x + i + 128);
    const V v9 = *reinterpret_cast<const V*>(x + i + 144);
    const V v10 = *reinterpret_cast<const V*>(x + i + 160);
    const V v11 = *reinterpret_cast<const V*>(x + i + 176);
    V t0 = v0, t1 = v1, t2 = v2, t3 = v3, t4 = v4, t5 = v5, t6 = v6, t7 = v7, t8 = v8, t9 = v9, t10 = v10, t11 = v11;
    for (std::int64_t k = 0; k < steps; ++k) {
      t0 = t0 * 0.75f + v0;
      t1 = t1 * 0.75f + v1;
      t2 = t2 * 0.75f + v2;
      t3 = t3 * 0.75f + v3;
      t4 = t4 * 0.75f + v4;
      t5 = t5 * 0.75f + v5;
      t6 = t6 * 0.75f + v6;
      t7 = t7 * 0.75f + v7;
      t8 = t8 * 0.75f + v8;
      t9 = t9 * 0.75f + v9;
      t10 = t10 * 0.75f + v10;
      t11 = t11 * 0.75f + v11;
    }
    *reinterpret_cast<V*>(y + i + 0) = t0;
    *reinterpret_cast<V*>(y + i + 16) = t1;
    *reinterpret_cast<V*>(y + i + 32) = t2;
    *reinterpret_cast<V*>(y + i + 48) = t3;
    *reinterpret_cast<V*>(y + i + 64) = t4;
    *reinterpret_cast<V*>(y + i + 80) = t5;
    *reinterpret_cast<V*>(y + i + 96) = t6;
    *reinterpret_cast<V*>(y + i + 112) = t7;
    *reinterpret_cast<V*>(y + i + 128) = t8;
    *reinterpret_cast<V*>(y + i + 144) = t9;
    *reinterpret_cast<V*>(y + i + 160) = t10;
    *reinterpret_cast<V*>(y + i + 176) = t11;
  }
  return 0;
}
