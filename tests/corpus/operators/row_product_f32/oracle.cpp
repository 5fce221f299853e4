// SPDX-License-Identifier: Apache-2.0
// Row products in float64. Each of n multiplications rounds: relative errors add up like a random walk. S: |y| sqrt(n).
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, double* y, double* s, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r) {
    double product = 1;
    for (std::int64_t i = 0; i < n; ++i)
      product *= x[r * n + i];
    y[r] = product, s[r] = std::fabs(product) * std::sqrt(static_cast<double>(n));
  }
  return 0;
}
