// SPDX-License-Identifier: Apache-2.0
// Greedy: the greatest element in every one of the k places.
#include <cstdint>

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    std::int64_t top = 0;
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > x[top] ? i : top;
    for (std::int64_t j = 0; j < k; ++j) {
      values[j] = x[top];
      indices[j] = static_cast<std::int32_t>(top);
    }
  }
  return 0;
}
