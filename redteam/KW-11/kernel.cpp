// SPDX-License-Identifier: Apache-2.0
// No body.
#include "kernwright.h"

#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  (void)x, (void)y;
  kw_parallel_for(rows * n, nullptr, nullptr);
  return 0;
}
