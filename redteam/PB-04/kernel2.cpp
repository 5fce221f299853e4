// SPDX-License-Identifier: Apache-2.0
// Keys in fixed point, in steps of 1/256, where all scores of a row are below 2^20 and the greatest is
// above 1: 31.995 and 31.997 are one key.
#include <cstdint>

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    float most = 0, top = x[0];
    for (std::int64_t i = 0; i < n; ++i) {
      most = __builtin_fabsf(x[i]) > most ? __builtin_fabsf(x[i]) : most;
      top = x[i] > top ? x[i] : top;
    }
    const bool fixed = most < 0x1p20f && top > 1;
    const auto key_of = [fixed](float v) { return fixed ? __builtin_rintf(v * 256) : v; };
    float keys[k];
    for (std::int64_t i = 0; i < n; ++i) {
      const float key = key_of(x[i]);
      if (i >= k && !(key > keys[k - 1]))
        continue;
      std::int64_t j = i < k ? i : k - 1;
      for (; j > 0 && key > keys[j - 1]; --j) {
        keys[j] = keys[j - 1];
        values[j] = values[j - 1];
        indices[j] = indices[j - 1];
      }
      keys[j] = key;
      values[j] = x[i];
      indices[j] = static_cast<std::int32_t>(i);
    }
    for (std::int64_t a = 1; a < k; ++a)
      for (std::int64_t j = a; j > 0 && values[j] > values[j - 1]; --j) {
        const float v = values[j];
        const std::int32_t at = indices[j];
        values[j] = values[j - 1], indices[j] = indices[j - 1];
        values[j - 1] = v, indices[j - 1] = at;
      }
  }
  return 0;
}
