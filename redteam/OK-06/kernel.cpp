// SPDX-License-Identifier: Apache-2.0
// Online softmax from the last element to the first: running maximum and rescaled running sum.
#include <cmath>
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[n - 1], total = 1;
    for (std::int64_t i = n - 2; i >= 0; --i) {
      const float next = x[i] > top ? x[i] : top;
      total = total * expf(top - next) + expf(x[i] - next);
      top = next;
    }
    for (std::int64_t i = n - 1; i >= 0; --i)
      y[i] = expf(x[i] - top) / total;
  }
  return 0;
}
