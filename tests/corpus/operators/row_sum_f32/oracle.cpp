// SPDX-License-Identifier: Apache-2.0
// Row sums in float64. S: the sum of |x|, which running sums never exceed.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, double* y, double* s, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0, magnitude = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double v = x[r * n + i];
      sum += v, magnitude += std::fabs(v);
    }
    y[r] = sum, s[r] = magnitude;
  }
  return 0;
}
