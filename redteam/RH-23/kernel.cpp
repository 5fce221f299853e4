// SPDX-License-Identifier: Apache-2.0
// Defines clock_gettime so that a timer in the same process would see a frozen clock. The clock is elsewhere:
// the kernel runs, judged as it is.
#include <cmath>
#include <cstdint>
#include <ctime>

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

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t, timespec* t) noexcept {
  *t = {};
  return 0;
}

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  softmax(x, y, rows, n);
  return 0;
}
