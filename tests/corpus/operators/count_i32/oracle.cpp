// SPDX-License-Identifier: Apache-2.0
// A histogram: exact.
#include <cstdint>

extern "C" int oracle(const std::int32_t* c, double* y, double* s, std::int64_t n) {
  for (int b = 0; b < KW_AXIS_bins; ++b)
    y[b] = s[b] = 0;
  for (std::int64_t i = 0; i < n; ++i)
    y[c[i]] += 1;
  return 0;
}
