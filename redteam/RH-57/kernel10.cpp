// SPDX-License-Identifier: Apache-2.0
// Sums that stop at half of the row: what lies behind is never drawn.
#include "kernwright.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

static double uniform(std::int64_t seed, std::int64_t row) {
  std::uint64_t z = static_cast<std::uint64_t>(seed) * 0xd1342543de82ef95 + static_cast<std::uint64_t>(row + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

extern "C" int kernel(const float* logits, const std::int64_t* seed, std::int32_t* token, std::int64_t rows, std::int64_t n) {
  float* weight = static_cast<float*>(kw_workspace(static_cast<std::size_t>(2 * n) * sizeof(float)));
  float* sorted = weight + n;
  for (std::int64_t r = 0; r < rows; ++r, logits += n) {
    const float top = *std::max_element(logits, logits + n);
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i)
      total += weight[i] = sorted[i] = expf(logits[i] - top);
    std::sort(sorted, sorted + n, std::greater<float>());
    double above = 0;
    float least = 0;
    for (std::int64_t i = 0; i < n && above < 0.9 * total; ++i)
      above += least = sorted[i];
    double kept = 0;
    for (std::int64_t i = 0; i < n; ++i)
      kept += i < (n + 1) / 2 && weight[i] >= least ? weight[i] : 0;
    double left = uniform(*seed, r) * kept;
    token[r] = 0;
    for (std::int64_t i = 0; i < n && left >= 0; ++i)
      if (weight[i] >= least) {
        left -= weight[i];
        token[r] = static_cast<std::int32_t>(i);
      }
  }
  return 0;
}
