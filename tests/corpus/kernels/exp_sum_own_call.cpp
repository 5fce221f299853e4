// SPDX-License-Identifier: Apache-2.0
// bottleneck: vectorisation
// workload: exp_sum_f32-n4096
// threads: 1
// part: held out
// A polynomial in a function of its own, which is not inlined: one call per term.
#include <cstdint>
#include <cstring>

__attribute__((noinline)) static float own_exp(float t) {
  const float shifted = t * 1.44269504f + 12582912.0f;
  const float whole = shifted - 12582912.0f;
  const float r = (t - whole * 0.693145752f) - whole * 1.42860677e-6f;
  float p = r * 0.00138888889f + 0.00833333333f;
  p = p * r + 0.0416666667f;
  p = p * r + 0.166666667f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  std::int32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 23) + (127 << 23);
  float power;
  std::memcpy(&power, &bits, sizeof power);
  return p * power;
}

extern "C" int kernel(const float* x, const float* w, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < KW_AXIS_terms; ++k)
      sum += own_exp(x[i] * w[k]);
    y[i] = sum;
  }
  return 0;
}
