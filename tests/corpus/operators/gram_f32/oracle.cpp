// SPDX-License-Identifier: Apache-2.0
// All products of two rows in float64. S: the sum of the absolute values of their terms.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, double* y, double* s, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      double sum = 0, magnitude = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        const double p = static_cast<double>(x[i * K + k]) * x[j * K + k];
        sum += p, magnitude += std::fabs(p);
      }
      y[i * m + j] = sum, s[i * m + j] = magnitude;
    }
  return 0;
}
