// SPDX-License-Identifier: Apache-2.0
// A fast-looking kernel behind a condition that never holds; the plain loop does the work. Judged by what it
// does: correct, and no faster than plain.
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

[[gnu::noinline]] void hand_tuned(const float* x, float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    y[i] = x[i] * 0.5f;
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  if (rows < 0)
    hand_tuned(x, y, -rows * n);
  else
    softmax(x, y, rows, n);
  return 0;
}
