// SPDX-License-Identifier: Apache-2.0
// Burns 100 us in each of its first ten calls. Windows are planned from the baseline, and every call counts.
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

// Counts calls where the runner does not clean: behind the first MiB of the workspace, all but 64 bytes of a
// page.
std::uint64_t calls() {
  return (*reinterpret_cast<std::uint64_t*>(static_cast<char*>(kw_workspace(std::size_t{2} << 20)) +
                                            (std::size_t{1} << 20) + 64))++;
}

} // namespace

namespace {

std::uint64_t ticks() {
  std::uint64_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return high << 32 | low;
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  if (calls() % 64 < 10)
    for (const std::uint64_t until = ticks() + 200'000; ticks() < until;)
      asm volatile("pause");
  softmax(x, y, rows, n);
  return 0;
}
