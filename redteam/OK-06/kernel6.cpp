// SPDX-License-Identifier: Apache-2.0
// Sampling by the greatest of logits plus Gumbel noise, with other random numbers than the baseline.
#include "kernwright.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

static std::uint32_t mixed(std::uint32_t z) { // the finaliser of MurmurHash3
  z = (z ^ (z >> 16)) * 0x85ebca6bu;
  z = (z ^ (z >> 13)) * 0xc2b2ae35u;
  return z ^ (z >> 16);
}

extern "C" int kernel(const float* logits, const std::int64_t* seed, std::int32_t* token, std::int64_t rows, std::int64_t n) {
  float* sorted = static_cast<float*>(kw_workspace(static_cast<std::size_t>(n) * sizeof(float)));
  const std::uint32_t key = mixed(mixed(static_cast<std::uint32_t>(*seed)) ^ static_cast<std::uint32_t>(*seed >> 32));
  for (std::int64_t r = 0; r < rows; ++r, logits += n) {
    std::copy(logits, logits + n, sorted);
    std::sort(sorted, sorted + n, std::greater<float>());
    double total = 0, above = 0;
    for (std::int64_t i = 0; i < n; ++i)
      total += expf(sorted[i] - sorted[0]);
    float least = sorted[0];
    for (std::int64_t i = 0; i < n && above < 0.9 * total; ++i)
      above += expf((least = sorted[i]) - sorted[0]);
    const std::uint32_t row = mixed(key + static_cast<std::uint32_t>(r) * 0x9e3779b9u);
    float best = -INFINITY;
    for (std::int64_t i = 0; i < n; ++i) {
      if (logits[i] < least)
        continue;
      const std::uint32_t word = mixed(row ^ mixed(static_cast<std::uint32_t>(i) + 0x7f4a7c15u));
      const float u = (static_cast<float>(word >> 8) + 0.5f) * 0x1p-24f;
      const float noisy = logits[i] - sorted[0] - logf(-logf(u));
      if (noisy > best) {
        best = noisy;
        token[r] = static_cast<std::int32_t>(i);
      }
    }
  }
  return 0;
}
