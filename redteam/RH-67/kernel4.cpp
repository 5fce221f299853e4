// SPDX-License-Identifier: Apache-2.0
// Rows are dealt out in overlapping pairs: two threads write the same row, and read what the other
// may be in the middle of writing. Mostly the bytes are the same.
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

namespace {

struct Call {
  const float* x;
  float* y;
  std::int64_t rows, n;
};

void two_rows(void* context, std::int64_t r) {
  const Call& call = *static_cast<const Call*>(context);
  const std::int64_t end = r + 2 < call.rows ? r + 2 : call.rows;
  softmax(call.x + r * call.n, call.y + r * call.n, end - r, call.n);
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  Call call{x, y, rows, n};
  kw_parallel_for(rows, two_rows, &call);
  return 0;
}
