// SPDX-License-Identifier: Apache-2.0
// One plain fp32 running sum over a row of bf16 data.
#include <cmath>
#include <cstdint>

namespace {

float to_float(std::uint16_t bf16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  __builtin_memcpy(&f, &bits, sizeof f);
  return f;
}
std::uint16_t to_bf16(float f) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &f, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

} // namespace

extern "C" int kernel(const std::uint16_t* x, const std::uint16_t* residual, const std::uint16_t* w, std::uint16_t* y,
                      std::int64_t rows) {
  constexpr std::int64_t n = KW_AXIS_hidden_size;
  for (std::int64_t r = 0; r < rows; ++r, x += n, residual += n, y += n) {
    float square = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const float t = to_float(x[i]) + to_float(residual[i]);
      square += t * t;
    }
    const float scale = 1 / std::sqrt(square / n + 1e-5f);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = to_bf16((to_float(x[i]) + to_float(residual[i])) * scale * to_float(w[i]));
  }
  return 0;
}
