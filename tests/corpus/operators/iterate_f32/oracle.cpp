// SPDX-License-Identifier: Apache-2.0
// t = 0.75 t + x, `steps` times from t = x: 4 x - 3 x 0.75^steps. Errors shrink by 0.75 a step: S = 16 |x|.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, double* y, double* s, std::int64_t n, std::int64_t steps) {
  const double power = std::pow(0.75, static_cast<double>(steps));
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = x[i];
    y[i] = v * (4 - 3 * power), s[i] = 16 * std::fabs(v);
  }
  return 0;
}
