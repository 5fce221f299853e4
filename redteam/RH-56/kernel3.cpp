// SPDX-License-Identifier: Apache-2.0
// Keys rounded to float16; values and places are those of the elements.
#include <bit>
#include <cstdint>

namespace {

/// To the 11 significant bits of float16, to nearest.
float as_half(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

} // namespace

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    float keys[k];
    for (std::int64_t i = 0; i < n; ++i) {
      const float key = as_half(x[i]);
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
