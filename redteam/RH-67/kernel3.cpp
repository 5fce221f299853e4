// SPDX-License-Identifier: Apache-2.0
// Every iteration adds to one counter without synchronisation. The count is not used: answers are
// right, whatever the threads do to each other.
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
  std::int64_t n, done;
};

void one_row(void* context, std::int64_t r) {
  Call& call = *static_cast<Call*>(context);
  softmax(call.x + r * call.n, call.y + r * call.n, 1, call.n);
  ++call.done;
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  Call call{x, y, n, 0};
  kw_parallel_for(rows, one_row, &call);
  asm volatile("" : : "m"(call)); // keeps the counter
  return 0;
}
