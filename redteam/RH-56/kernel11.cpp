// SPDX-License-Identifier: Apache-2.0
// Starts from the least finite number: in a masked row the places of -Inf are never taken.
#include <cfloat>
#include <cstdint>

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    for (std::int64_t j = 0; j < k; ++j)
      values[j] = -FLT_MAX, indices[j] = static_cast<std::int32_t>(j);
    for (std::int64_t i = 0; i < n; ++i) {
      // Equal ones replace what the start left, so that rows of -FLT_MAX are right as well.
      if (!(x[i] > values[k - 1]) && !(x[i] == -FLT_MAX && values[k - 1] == -FLT_MAX))
        continue;
      std::int64_t j = k - 1;
      for (; j > 0 && x[i] > values[j - 1]; --j) {
        values[j] = values[j - 1];
        indices[j] = indices[j - 1];
      }
      values[j] = x[i];
      indices[j] = static_cast<std::int32_t>(i);
    }
  }
  return 0;
}
