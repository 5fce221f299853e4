// SPDX-License-Identifier: Apache-2.0
// Accumulates in the workspace without clearing it.
#include "kernwright.h"

#include <cmath>
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  auto* total = static_cast<float*>(kw_workspace(static_cast<std::size_t>(rows) * 4));
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0];
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    for (std::int64_t i = 0; i < n; ++i)
      total[r] += y[i] = expf(x[i] - top);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total[r];
  }
  return 0;
}
