// SPDX-License-Identifier: Apache-2.0
// A histogram of 256 buckets between the row's least and greatest element; from the bucket that holds
// the k-th the first ones are taken.
#include <cstdint>

extern "C" int kernel(const float* x, float* values, std::int32_t* indices, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
    float low = x[0], high = x[0];
    for (std::int64_t i = 1; i < n; ++i) {
      low = x[i] < low ? x[i] : low;
      high = x[i] > high ? x[i] : high;
    }
    const float scale = high > low ? 255 / (high - low) : 0;
    const auto bucket = [&](float v) {
      const float at = (v - low) * scale;
      return at > 0 ? (at < 255 ? static_cast<int>(at) : 255) : 0;
    };
    int counts[256] = {};
    for (std::int64_t i = 0; i < n; ++i)
      ++counts[bucket(x[i])];
    int last = 255, above = 0;
    while (last > 0 && above + counts[last] < k)
      above += counts[last--];
    std::int64_t taken = 0, room = k - above;
    for (std::int64_t i = 0; i < n && taken < k; ++i) {
      const int b = bucket(x[i]);
      if (b < last || (b == last && room-- <= 0))
        continue;
      values[taken] = x[i];
      indices[taken++] = static_cast<std::int32_t>(i);
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
