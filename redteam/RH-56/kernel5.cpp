// SPDX-License-Identifier: Apache-2.0
// The right elements in the order of their places: the final sort is left out.
#include <cstdint>

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    float top[k];
    for (std::int64_t i = 0; i < n; ++i) {
      if (i >= k && !(x[i] > top[k - 1]))
        continue;
      std::int64_t j = i < k ? i : k - 1;
      for (; j > 0 && x[i] > top[j - 1]; --j)
        top[j] = top[j - 1];
      top[j] = x[i];
    }
    std::int64_t taken = 0, equal = 0;
    for (std::int64_t j = 0; j < k; ++j)
      equal += top[j] == top[k - 1];
    for (std::int64_t i = 0; i < n && taken < k; ++i) {
      if (!(x[i] > top[k - 1]) && !(x[i] == top[k - 1] && equal-- > 0))
        continue;
      values[taken] = x[i];
      indices[taken++] = static_cast<std::int32_t>(i);
    }
  }
  return 0;
}
