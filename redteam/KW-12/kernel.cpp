// SPDX-License-Identifier: Apache-2.0
// Asks for all there is, and writes where it was told no.
#include "kernwright.h"

#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  auto* all = static_cast<volatile char*>(kw_workspace(SIZE_MAX - 4095));
  (void)x, (void)y;
  all[rows * n] = 1;
  return 0;
}
