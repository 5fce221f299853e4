// SPDX-License-Identifier: Apache-2.0
// y = 2.5 x in float64; one rounding.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, double* y, double* s, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = 2.5 * x[i], s[i] = std::fabs(y[i]);
  return 0;
}
