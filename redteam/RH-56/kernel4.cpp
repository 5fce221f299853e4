// SPDX-License-Identifier: Apache-2.0
// Finds the k greatest values one after the other, then looks for the place of each: equal elements
// all get the place of the first.
#include <cstdint>

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    for (std::int64_t j = 0; j < k; ++j)
      indices[j] = -1;
    float top[k];
    for (std::int64_t i = 0; i < n; ++i) {
      if (i >= k && !(x[i] > top[k - 1]))
        continue;
      std::int64_t j = i < k ? i : k - 1;
      for (; j > 0 && x[i] > top[j - 1]; --j)
        top[j] = top[j - 1];
      top[j] = x[i];
    }
    for (std::int64_t j = 0; j < k; ++j) {
      values[j] = top[j];
      for (std::int64_t i = 0; i < n && indices[j] < 0; ++i)
        if (x[i] == top[j])
          indices[j] = static_cast<std::int32_t>(i);
    }
  }
  return 0;
}
