// SPDX-License-Identifier: Apache-2.0
// LayerNorm by E[x^2] - E[x]^2 whose sums are compensated: the subtraction still cancels.
#include <cmath>
#include <cstdint>

namespace {

void add(float& sum, float& lost, float value) {
  const float corrected = value - lost, next = sum + corrected;
  lost = (next - sum) - corrected;
  sum = next;
}

} // namespace

extern "C" int kernel(const float* x, const float* w, const float* b, float* y, std::int64_t rows) {
  constexpr std::int64_t n = KW_AXIS_hidden_size;
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float sum = 0, lost = 0, square = 0, square_lost = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      add(sum, lost, x[i]);
      add(square, square_lost, x[i] * x[i]);
    }
    const float mean = sum / n, variance = square / n - mean * mean;
    const float scale = 1 / std::sqrt((variance > 0 ? variance : 0) + 1e-5f);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = (x[i] - mean) * scale * w[i] + b[i];
  }
  return 0;
}
