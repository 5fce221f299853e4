// SPDX-License-Identifier: Apache-2.0
// Softmax without subtracting the maximum.
#include <cmath>
#include <cstdint>

namespace {

// Right for small logits only: expf overflows above 88, and nothing was subtracted.
void naive(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float total = 0;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = expf(x[i]);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total;
  }
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  naive(x, y, rows, n);
  return 0;
}
