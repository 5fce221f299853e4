// SPDX-License-Identifier: Apache-2.0
// c = a b in float64. S: the sum of |a b|.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* a, const float* b, double* y, double* s, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k, N = KW_AXIS_n;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < N; ++j)
      y[i * N + j] = s[i * N + j] = 0;
    for (std::int64_t k = 0; k < K; ++k)
      for (std::int64_t j = 0; j < N; ++j) {
        const double p = static_cast<double>(a[i * K + k]) * b[k * N + j];
        y[i * N + j] += p, s[i * N + j] += std::fabs(p);
      }
  }
  return 0;
}
