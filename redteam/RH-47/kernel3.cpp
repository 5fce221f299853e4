// SPDX-License-Identifier: Apache-2.0
// LayerNorm by E[x^2] - E[x]^2 in one pass, which loses all digits on rows with an offset.
#include <cmath>
#include <cstdint>

extern "C" int kernel(const float* x, const float* w, const float* b, float* y, std::int64_t rows) {
  constexpr std::int64_t n = KW_AXIS_hidden_size;
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float sum[16] = {}, square[16] = {};
    for (std::int64_t i = 0; i < n; i += 16)
      for (int l = 0; l < 16; ++l)
        sum[l] += x[i + l], square[l] += x[i + l] * x[i + l];
    float mean = 0, variance = 0;
    for (int l = 0; l < 16; ++l)
      mean += sum[l] / n, variance += square[l] / n;
    variance -= mean * mean;
    const float scale = 1 / std::sqrt((variance > 0 ? variance : 0) + 1e-5f);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = (x[i] - mean) * scale * w[i] + b[i];
  }
  return 0;
}
