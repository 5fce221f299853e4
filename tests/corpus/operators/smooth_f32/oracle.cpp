// SPDX-License-Identifier: Apache-2.0
// A first-order recurrence in float64. S: the same recurrence over |x|, four roundings deep at most.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, double* y, double* s, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r) {
    double t = 0, m = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double v = x[r * n + i];
      t = 0.75 * t + v, m = 0.75 * m + std::fabs(v);
      y[r * n + i] = t, s[r * n + i] = 4 * m;
    }
  }
  return 0;
}
