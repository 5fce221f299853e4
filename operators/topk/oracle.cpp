// SPDX-License-Identifier: Apache-2.0
// The k greatest elements of every row and their places, in descending order, of equal ones the
// first: one right answer of several. Nothing is rounded, so the magnitudes are those of the
// answers. NaN counts as above +Inf, as in torch.topk; the contract has none.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

// x [rows, n]; values, values_s, places, places_s [rows, k]
extern "C" int oracle(const float* x, double* values, double* values_s, double* places, double* places_s,
                      std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t k = KW_AXIS_k;
  if (n < k)
    return 1;
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < rows; ++r, x += n, values += k, values_s += k, places += k, places_s += k) {
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [x](std::int32_t a, std::int32_t b) {
      const float p = x[a], q = x[b];
      if (std::isnan(p) || std::isnan(q))
        return std::isnan(p) && std::isnan(q) ? a < b : std::isnan(p);
      return p != q ? p > q : a < b;
    });
    for (std::int64_t j = 0; j < k; ++j) {
      values[j] = x[order[static_cast<std::size_t>(j)]];
      values_s[j] = std::fabs(values[j]) + 0x1p-126;
      places[j] = order[static_cast<std::size_t>(j)];
      places_s[j] = 1;
    }
  }
  return 0;
}
