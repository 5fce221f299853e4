// SPDX-License-Identifier: Apache-2.0
// bottleneck: compute
// workload: exp_sum_f32-n4096
// threads: 1
// part: tuning
// Sixteen exponentials per element as polynomials in vectors, four elements' vectors side by side: the
// arithmetic units are busy, memory is not.
#include <cstdint>

using V = float __attribute__((vector_size(64), aligned(4), may_alias)); // 16 lanes

using N = std::int32_t __attribute__((vector_size(64)));

/// exp of every lane: range reduction by ln 2, a polynomial of degree 6, the exponent put together from bits.
inline V exp_lanes(V t) {
  const V shifted = t * 1.44269504f + 12582912.0f;
  const V whole = shifted - 12582912.0f;
  const V r = (t - whole * 0.693145752f) - whole * 1.42860677e-6f;
  V p = r * 0.00138888889f + 0.00833333333f;
  p = p * r + 0.0416666667f;
  p = p * r + 0.166666667f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * reinterpret_cast<V>((reinterpret_cast<N>(shifted) << 23) + (127 << 23));
}

extern "C" int kernel(const float* x, const float* w, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += 64) {
    V v[4], sum[4] = {};
    for (int c = 0; c < 4; ++c)
      v[c] = *reinterpret_cast<const V*>(x + i + 16 * c);
    for (int k = 0; k < KW_AXIS_terms; ++k)
      for (int c = 0; c < 4; ++c)
        sum[c] += exp_lanes(v[c] * w[k]);
    for (int c = 0; c < 4; ++c)
      *reinterpret_cast<V*>(y + i + 16 * c) = sum[c];
  }
  return 0;
}
