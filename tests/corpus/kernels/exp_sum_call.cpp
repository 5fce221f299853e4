// SPDX-License-Identifier: Apache-2.0
// bottleneck: vectorisation
// workload: exp_sum_f32-n4096
// threads: 1
// part: tuning
// The exponential of the math library, one call per term.
#include <cmath>
#include <cstdint>

extern "C" int kernel(const float* x, const float* w, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < KW_AXIS_terms; ++k)
      sum += expf(x[i] * w[k]);
    y[i] = sum;
  }
  return 0;
}
