// SPDX-License-Identifier: Apache-2.0
// Argmax that takes the last of equal elements.
#include <cstdint>

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    std::int64_t top = 0;
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] >= x[top] ? i : top;
    static_assert(k == 1);
    values[0] = x[top];
    indices[0] = static_cast<std::int32_t>(top);
  }
  return 0;
}
