// SPDX-License-Identifier: Apache-2.0
// Column sums in float64. S: the sum of |x|.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, double* y, double* s, std::int64_t rows, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j)
    y[j] = s[j] = 0;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < n; ++j) {
      const double v = x[r * n + j];
      y[j] += v, s[j] += std::fabs(v);
    }
  return 0;
}
