// SPDX-License-Identifier: Apache-2.0
// Nucleus sampling in double: one right answer of many. The judge holds answers against the logits
// (tensor/sampling.hpp), so this one only serves where some right answer is needed. Equal logits at
// the end of the kept part are all kept.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace {

/// In [0, 1): the finaliser of splitmix64 (Steele, Lea, Flood 2014) over seed and row.
double uniform(std::int64_t seed, std::int64_t row) {
  std::uint64_t z = static_cast<std::uint64_t>(seed) * 0xd1342543de82ef95 + static_cast<std::uint64_t>(row + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

} // namespace

// logits [rows, n], seed []; token, token_s [rows]
extern "C" int oracle(const float* logits, const std::int64_t* seed, double* token, double* token_s, std::int64_t rows,
                      std::int64_t n) {
  std::vector<double> weight(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < rows; ++r, logits += n) {
    const double top = *std::max_element(logits, logits + n);
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i)
      total += weight[static_cast<std::size_t>(i)] = std::exp(logits[i] - top);
    std::vector<double> sorted = weight;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double above = 0, least = 0;
    for (std::size_t i = 0; i < sorted.size() && above < 0.9 * total; ++i)
      above += least = sorted[i];
    double kept = 0;
    for (const double w : weight)
      kept += w >= least ? w : 0;
    double left = uniform(*seed, r) * kept;
    token[r] = 0;
    for (std::size_t i = 0; i < weight.size() && left >= 0; ++i)
      if (weight[i] >= least) {
        left -= weight[i];
        token[r] = static_cast<double>(i);
      }
    token_s[r] = 1;
  }
  return 0;
}
