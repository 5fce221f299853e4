// SPDX-License-Identifier: Apache-2.0
// RMSNorm(x + residual) * weight in two passes over a row. Sixteen running sums: the compiler may not
// reorder fp32 sums by itself, so the lanes are written out.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

float to_float(std::uint16_t bf16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

// Round to nearest, ties to even. Inputs are finite by contract, so NaN needs no care.
std::uint16_t to_bf16(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

} // namespace

// x, residual, y [rows, n], weight [n]
extern "C" int baseline(const std::uint16_t* x, const std::uint16_t* residual, const std::uint16_t* weight,
                        std::uint16_t* y, std::int64_t rows) {
  constexpr std::int64_t n = KW_AXIS_hidden_size;
  constexpr float eps = n == 7168 ? 1e-6f : 1e-5f;
  constexpr int lanes = 16;
  static_assert(n % lanes == 0);
  for (std::int64_t r = 0; r < rows; ++r, x += n, residual += n, y += n) {
    float square[lanes] = {};
    for (std::int64_t i = 0; i < n; i += lanes)
      for (int l = 0; l < lanes; ++l) {
        const float t = to_float(x[i + l]) + to_float(residual[i + l]);
        square[l] += t * t;
      }
    float total = 0;
    for (float v : square)
      total += v;
    const float scale = 1 / std::sqrt(total / n + eps);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = to_bf16((to_float(x[i]) + to_float(residual[i])) * scale * to_float(weight[i]));
  }
  return 0;
}
