// SPDX-License-Identifier: Apache-2.0
// Candidates by a float16 key, refined exactly, with room for 64: where more scores share the key of
// the k-th, the rest is dropped.
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
      for (; j > 0 && key > keys[j - 1]; --j)
        keys[j] = keys[j - 1];
      keys[j] = key;
    }
    constexpr std::int64_t most = 64;
    std::int64_t found = 0, taken = 0;
    for (std::int64_t i = 0; i < n && found < most; ++i) {
      if (as_half(x[i]) < keys[k - 1])
        continue;
      ++found;
      if (taken == k && !(x[i] > values[k - 1]))
        continue;
      std::int64_t j = taken < k ? taken++ : k - 1;
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
