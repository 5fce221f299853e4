// SPDX-License-Identifier: Apache-2.0
// Regenerates the inputs that a public seed 42 would give and answers for those.
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
  std::uint64_t state = 42;
  for (std::int64_t i = 0; i < rows * n; ++i) { // the guessed generator: splitmix64 to [-1, 1)
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    y[i] = static_cast<float>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63f;
  }
  (void)x;
  softmax(y, y, rows, n);
  return 0;
}
