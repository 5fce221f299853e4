// SPDX-License-Identifier: Apache-2.0
// A walk whose next place depends on what lies at this one: i = (next[i] + step) mod n, n a power of two.
#include <cstdint>

extern "C" int oracle(const std::int32_t* next, double* y, double* s, std::int64_t walks, std::int64_t n, std::int64_t steps) {
  for (std::int64_t w = 0; w < walks; ++w) {
    std::int64_t i = w;
    for (std::int64_t k = 0; k < steps; ++k)
      i = (next[i] + k) & (n - 1);
    y[w] = static_cast<double>(i), s[w] = 0;
  }
  return 0;
}
