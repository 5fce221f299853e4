// SPDX-License-Identifier: Apache-2.0
// Add-RMSNorm with denormals taken as zero, the register restored before it returns: rows of subnormal
// numbers, whose normalised values are not, come out zero.
#include <cmath>
#include <cstdint>
#include <immintrin.h>

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

// Not inlined: nothing of it may move out of the two writes of the control register.
[[gnu::noinline]] void rmsnorm(const std::uint16_t* x, const std::uint16_t* residual, const std::uint16_t* weight,
                               std::uint16_t* y, std::int64_t rows) {
  constexpr std::int64_t n = KW_AXIS_hidden_size;
  for (std::int64_t r = 0; r < rows; ++r, x += n, residual += n, y += n) {
    float square[16] = {}, total = 0;
    for (std::int64_t i = 0; i < n; i += 16)
      for (int l = 0; l < 16; ++l) {
        const float t = to_float(x[i + l]) + to_float(residual[i + l]);
        square[l] += t * t;
      }
    for (const float v : square)
      total += v;
    const float scale = 1 / std::sqrt(total / n + 1e-5f);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = to_bf16((to_float(x[i]) + to_float(residual[i])) * scale * to_float(weight[i]));
  }
}

} // namespace

extern "C" int kernel(const std::uint16_t* x, const std::uint16_t* residual, const std::uint16_t* weight, std::uint16_t* y,
                      std::int64_t rows) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040); // FTZ, DAZ
  rmsnorm(x, residual, weight, y, rows);
  _mm_setcsr(before);
  return 0;
}
