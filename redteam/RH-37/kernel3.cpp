// SPDX-License-Identifier: Apache-2.0
// Smashes its own return address.
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
  void* const back = __builtin_return_address(0);
  softmax(x, y, rows, n);
  auto* slot = static_cast<void* volatile*>(__builtin_frame_address(0));
  for (int i = 0; i < 64; ++i) // wherever the compiler keeps it and its copies
    if (slot[i] == back)
      slot[i] = y; // returns into the output
  return 0;
}
