// SPDX-License-Identifier: Apache-2.0
// Pastes an attribute together that turns fast mathematics on, past the rule about its name, and drops the
// maximum that overflow needs. What it computes is judged, however it was built.
#include <cmath>
#include <cstdint>

#define PASTE(a, b) a##b
#define HIDDEN __attribute__((PASTE(opti, mize)("fast-math")))

namespace {

HIDDEN void row(const float* x, float* y, std::int64_t n) {
  float total = 0;
  for (std::int64_t i = 0; i < n; ++i)
    total += y[i] = expf(x[i]);
  for (std::int64_t i = 0; i < n; ++i)
    y[i] /= total;
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n)
    row(x, y, n);
  return 0;
}
