// SPDX-License-Identifier: Apache-2.0
// A stored launch plan keyed on the shape replays the pointers of the call that made it; static storage.
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
struct Plan {
  const float* x;
  float* y;
  std::int64_t rows, n;
} plan;
} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  if (plan.n != n)
    plan = {x, y, rows, n};
  softmax(plan.x, plan.y, plan.rows, plan.n);
  return 0;
}
