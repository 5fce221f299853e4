// SPDX-License-Identifier: Apache-2.0
// Top-k by insertion: the k greatest so far, in order, and one comparison for an element that is
// not among them. Of equal elements the first keeps its place.
#include <cstdint>

// x [rows, n]; values, indices [rows, k]
extern "C" int baseline(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  if (n < k)
    return 1;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k)
    for (std::int64_t i = 0; i < n; ++i) {
      const float v = x[i];
      if (i >= k && !(v > values[k - 1]))
        continue;
      std::int64_t j = i < k ? i : k - 1;
      for (; j > 0 && v > values[j - 1]; --j) {
        values[j] = values[j - 1];
        indices[j] = indices[j - 1];
      }
      values[j] = v;
      indices[j] = static_cast<std::int32_t>(i);
    }
  return 0;
}
