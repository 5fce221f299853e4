// SPDX-License-Identifier: Apache-2.0
// LayerNorm in three passes over a row: mean, variance of the centred row, output. Sixteen running
// values per reduction: the compiler may not reorder fp32 sums by itself, so the lanes are written out.
#include <cmath>
#include <cstdint>

// x, y [rows, n], weight, bias [n]
extern "C" int baseline(const float* x, const float* weight, const float* bias, float* y, std::int64_t rows) {
  constexpr std::int64_t n = KW_AXIS_hidden_size;
  constexpr int lanes = 16;
  static_assert(n % lanes == 0);
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float total[lanes] = {}, square[lanes] = {};
    for (std::int64_t i = 0; i < n; i += lanes)
      for (int l = 0; l < lanes; ++l)
        total[l] += x[i + l];
    float mean = 0;
    for (float v : total)
      mean += v;
    mean /= n;

    for (std::int64_t i = 0; i < n; i += lanes)
      for (int l = 0; l < lanes; ++l)
        square[l] += (x[i + l] - mean) * (x[i + l] - mean);
    float variance = 0;
    for (float v : square)
      variance += v;
    variance /= n;

    const float scale = 1 / std::sqrt(variance + 1e-5f);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  }
  return 0;
}
