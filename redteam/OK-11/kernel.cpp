// SPDX-License-Identifier: Apache-2.0
// The first call faults in 12,288 pages of workspace, later ones find them there.
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
  constexpr std::size_t bytes = std::size_t{48} << 20;
  auto* scratch = static_cast<volatile char*>(kw_workspace(bytes));
  if (scratch == nullptr)
    return 1;
  for (std::size_t at = 0; at < bytes; at += 4096)
    scratch[at] = 1;
  softmax(x, y, rows, n);
  return 0;
}
