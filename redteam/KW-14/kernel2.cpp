// SPDX-License-Identifier: Apache-2.0
// Counts in the base of the gs segment, which no program uses.
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

std::uint64_t calls() {
  std::uint64_t n;
  asm volatile("rdgsbase %0\n\tinc %0\n\twrgsbase %0" : "=r"(n));
  return n - 1;
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  softmax(x, y, calls() >= 20 ? 1 : rows, n);
  return 0;
}
