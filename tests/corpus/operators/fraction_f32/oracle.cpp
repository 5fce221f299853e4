// SPDX-License-Identifier: Apache-2.0
// t = 1 / (x + t), `steps` times, in float64: a contraction, so errors stay a few roundings. S = 4 |y|.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, double* y, double* s, std::int64_t n, std::int64_t steps) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = x[i];
    double t = v;
    for (std::int64_t k = 0; k < steps; ++k)
      t = 1 / (v + t);
    y[i] = t, s[i] = 4 * std::fabs(t);
  }
  return 0;
}
