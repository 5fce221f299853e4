// SPDX-License-Identifier: Apache-2.0
// RMSNorm(x + residual) * w in fp64, with the magnitude of the errors that fp32 arithmetic may make.
//
//   t_i = x_i + z_i,  q = mean t^2,  r = 1/sqrt(q + eps),  y_i = t_i r w_i
//
// In units of u = 2^-24: t_i rounds once (|t_i|; exact unless the exponents are far apart), q sums n
// positive squares (a plain loop walks randomly: sqrt(n)/4, halved by the root), root, quotient and two
// products: S_i = |y_i| (4 + sqrt(n)/8) + floor. The result is then rounded once to bf16, which
// the caller counts separately as 2^-8 |y_i|. The floor, 2^-102 u = 2^-126, covers subnormal results.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t n = KW_AXIS_hidden_size;
constexpr double eps = n == 7168 ? 1e-6 : 1e-5; // as the models that use these widths do

using Lanes = double __attribute__((vector_size(64)));
using Halves = std::uint16_t __attribute__((vector_size(16)));
using Words = std::uint32_t __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(32)));
constexpr std::int64_t W = 8;
static_assert(n % (2 * W) == 0);

// bf16 is the upper half of a float.
Lanes load(const std::uint16_t* p) {
  Halves h;
  std::memcpy(&h, p, sizeof h);
  return __builtin_convertvector(reinterpret_cast<Floats>(__builtin_convertvector(h, Words) << 16), Lanes);
}

Lanes absolute(Lanes v) { return v < 0 ? -v : v; }

} // namespace

// x, residual [rows, n], w [n] in bf16; y, s [rows, n]
extern "C" int oracle(const std::uint16_t* x, const std::uint16_t* residual, const std::uint16_t* w, double* y,
                      double* s, std::int64_t rows) {
  const double size = 4 + std::sqrt(static_cast<double>(n)) / 8;
  for (std::int64_t row = 0; row < rows; ++row, x += n, residual += n, y += n, s += n) {
    Lanes square[2] = {};
    for (std::int64_t i = 0; i < n; i += 2 * W)
      for (int h = 0; h < 2; ++h) {
        const Lanes t = load(x + i + h * W) + load(residual + i + h * W);
        square[h] += t * t;
      }
    double total = 0;
    for (std::int64_t l = 0; l < W; ++l)
      total += square[0][l] + square[1][l];
    const double r = 1 / std::sqrt(total / n + eps);
    for (std::int64_t i = 0; i < n; i += W) {
      const Lanes out = (load(x + i) + load(residual + i)) * r * load(w + i);
      const Lanes size_i = absolute(out) * size + 0x1p-102;
      std::memcpy(y + i, &out, sizeof out);
      std::memcpy(s + i, &size_i, sizeof size_i);
    }
  }
  return 0;
}
