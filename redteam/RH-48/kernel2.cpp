// SPDX-License-Identifier: Apache-2.0
// Softmax whose exponential stops after the fourth power.
#include <cmath>
#include <cstdint>

namespace {

// e^t for t <= 0 as 2^k p(r), |r| <= ln2/2. The remainder of degree 4 is 4e-5; fp32 needs degree 6.
float short_exp(float t) {
  if (t < -87.0f)
    return 0;
  const float k = std::floor(t * 1.44269504f + 0.5f);
  const float r = (t - k * 0.693359375f) + k * 2.12194440e-4f;
  const float p = 1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24))));
  const std::uint32_t bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(k) + 127) << 23;
  float scale;
  __builtin_memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0], total = 0;
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = short_exp(x[i] - top);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total;
  }
  return 0;
}
