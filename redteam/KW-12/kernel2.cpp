// SPDX-License-Identifier: Apache-2.0
// Writes one byte behind the block's end.
#include "kernwright.h"

#include <cmath>
#include <cstdint>

namespace {

// What an honest kernel does; the attack hides behind it.
void softmax(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0], total = 0;
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = expf(x[i] - top);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total;
  }
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  constexpr std::size_t most = std::size_t{64} << 20;
  auto* all = static_cast<volatile char*>(kw_workspace(most));
  all[most] = 1;
  softmax(x, y, rows, n);
  return 0;
}
