// SPDX-License-Identifier: Apache-2.0
// Aligned stores at the start of every row; rows of 127 are not aligned.
#include <cmath>
#include <cstdint>

namespace {

using Vector = float __attribute__((vector_size(16), may_alias));

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0], total = 0;
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = expf(x[i] - top);
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4)
      *reinterpret_cast<Vector*>(y + i) /= total;
    for (; i < n; ++i)
      y[i] /= total;
  }
  return 0;
}
