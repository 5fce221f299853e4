// SPDX-License-Identifier: Apache-2.0
// LayerNorm with both sums by recursive halving: another order than the baseline's.
#include <cmath>
#include <cstdint>

namespace {

template <class Term> float pairwise(Term term, std::int64_t begin, std::int64_t end) {
  if (end - begin == 1)
    return term(begin);
  const std::int64_t middle = begin + (end - begin) / 2;
  return pairwise(term, begin, middle) + pairwise(term, middle, end);
}

} // namespace

extern "C" int kernel(const float* x, const float* w, const float* b, float* y, std::int64_t rows) {
  constexpr std::int64_t n = KW_AXIS_hidden_size;
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const float mean = pairwise([=](std::int64_t i) { return x[i]; }, 0, n) / n;
    const float variance = pairwise([=](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); }, 0, n) / n;
    const float scale = 1 / std::sqrt(variance + 1e-5f);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = (x[i] - mean) * scale * w[i] + b[i];
  }
  return 0;
}
