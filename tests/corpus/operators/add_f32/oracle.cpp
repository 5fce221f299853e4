// SPDX-License-Identifier: Apache-2.0
// y = x + z in float64; one rounding.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, const float* z, double* y, double* s, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<double>(x[i]) + z[i];
    s[i] = std::fabs(x[i]) + std::fabs(z[i]);
  }
  return 0;
}
