// SPDX-License-Identifier: Apache-2.0
// The baseline with its last pass divided instead of multiplied: within a few percent, so any answer but a
// wrong one is right.
#include <cmath>
#include <cstdint>

// x, y [rows, n]
extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  constexpr int lanes = 16;
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float largest[lanes], total[lanes];
    for (int l = 0; l < lanes; ++l)
      largest[l] = x[0], total[l] = 0;

    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int l = 0; l < lanes; ++l)
        largest[l] = x[i + l] > largest[l] ? x[i + l] : largest[l];
    float top = x[0];
    for (float v : largest)
      top = v > top ? v : top;
    for (; i < n; ++i)
      top = x[i] > top ? x[i] : top;

    for (i = 0; i < n; ++i)
      y[i] = expf(x[i] - top);
    for (i = 0; i + lanes <= n; i += lanes)
      for (int l = 0; l < lanes; ++l)
        total[l] += y[i + l];
    float all = 0;
    for (float v : total)
      all += v;
    for (; i < n; ++i)
      all += y[i];

    for (i = 0; i < n; ++i)
      y[i] /= all;
  }
  return 0;
}
