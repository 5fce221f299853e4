// SPDX-License-Identifier: Apache-2.0
// y = g u / (1 + exp(-g)) in fp64, and the magnitude of the errors that fp32 arithmetic may make.
//
// In units of 2^-24: exp turns the rounding of its argument into a relative error |g| (twice if it goes
// through 2^(g log2 e)), but only where exp(-g) dominates 1 + exp(-g), that is for negative g; two
// products, a sum, a quotient and exp itself give about 4: S = |y| (4 + 2 max(-g, 0)) + floor.
// The floor allows sigmoid(g) below 2^-126 to become zero (2^-102 u = 2^-126), which includes kernels
// whose exp(-g) overflows to infinity.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

using Lanes = double __attribute__((vector_size(64)));
using Bits = std::int64_t __attribute__((vector_size(64)));
using Halves = std::uint16_t __attribute__((vector_size(16)));
using Words = std::uint32_t __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(32)));
constexpr std::int64_t W = 8, d = KW_AXIS_intermediate_size;
static_assert(d % W == 0);

Lanes load(const float* p) {
  Floats f;
  std::memcpy(&f, p, sizeof f);
  return __builtin_convertvector(f, Lanes);
}
// bf16 is the upper half of a float.
Lanes load(const std::uint16_t* p) {
  Halves h;
  std::memcpy(&h, p, sizeof h);
  return __builtin_convertvector(reinterpret_cast<Floats>(__builtin_convertvector(h, Words) << 16), Lanes);
}
Lanes absolute(Lanes v) { return v < 0 ? -v : v; }

// exp(x) for x <= 0, relative error below 1e-15; x is clamped at -700, where exp(x) |x| is beneath any
// tolerance here. Cody-Waite reduction by ln 2, then a Taylor polynomial of degree 13.
Lanes exp_lanes(Lanes x) {
  const Lanes low = Lanes{} - 700.0;
  x = x > low ? x : low;
  const Lanes shift = Lanes{} + 0x1.8p52;
  const Lanes k_bits = x * 1.4426950408889634 + shift; // low mantissa bits hold round(x / ln 2)
  const Lanes k = k_bits - shift;
  const Lanes r = (x - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
  Lanes p = Lanes{} + 1.0 / 6227020800.0;
  constexpr double c[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                          1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,         1.0,
                          1.0};
  for (double a : c)
    p = p * r + a;
  const Bits n = reinterpret_cast<Bits>(k_bits) - reinterpret_cast<Bits>(shift);
  return p * reinterpret_cast<Lanes>((n + 1023) << 52);
}

// gate, up [tokens, d]; y, s [tokens, d]
template <class T> int swiglu(const T* gate, const T* up, double* y, double* s, std::int64_t tokens) {
  for (std::int64_t i = 0; i < tokens * d; i += W) {
    const Lanes g = load(gate + i), u = load(up + i);
    const Lanes e = exp_lanes(-absolute(g)); // exp(-|g|) cannot overflow
    const Lanes zero{}, one = zero + 1.0;
    const Lanes sigmoid = (g < 0 ? e : one) / (e + 1.0);
    const Lanes out = g * sigmoid * u;
    const Lanes size = absolute(out) * (4.0 + 2.0 * (g < 0 ? -g : zero)) + (1.0 + absolute(g * u)) * 0x1p-102;
    std::memcpy(y + i, &out, sizeof out);
    std::memcpy(s + i, &size, sizeof size);
  }
  return 0;
}

} // namespace

extern "C" int oracle_f32(const float* gate, const float* up, double* y, double* s, std::int64_t tokens) {
  return swiglu(gate, up, y, s, tokens);
}
extern "C" int oracle_bf16(const std::uint16_t* gate, const std::uint16_t* up, double* y, double* s,
                           std::int64_t tokens) {
  return swiglu(gate, up, y, s, tokens);
}
