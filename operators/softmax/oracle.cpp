// SPDX-License-Identifier: Apache-2.0
// Softmax in fp64, with the magnitude of the rounding errors that fp32 arithmetic may make.
//
//   t_i = x_i - max,  e_i = exp(t_i),  s = sum e_j,  y_i = e_i / s
//
// First-order errors of any fp32 evaluation, in units of u = 2^-24 relative to y_i:
//   subtraction      t_i (1 + u): exp turns an absolute error |t_i| u into a relative one        |t_i|
//   exponential      a few ulp, plus |t_i| once more if it goes through 2^(t log2 e)             ~2
//   the same of s    the mean of |t_j| under y_j: s carries each e_j's error                     H
//   summing n terms  all positive, so running sums are as large as s. The rounding error of one
//                    addition depends on the term's place between multiples of an ulp of the
//                    running sum: terms that agree to within half an ulp err with one sign and
//                    add up, groups of them have independent signs and add up like a random walk.
//                    With m_b terms in the group b of those with the same floor(e / (2^-24 s))   K
//                    K = sqrt(sum_b m_b^2): sqrt(n) if all differ, n if all are equal
//   division                                                                                     1
// S_i = y_i (2 + |t_i| + H + 3/8 K) + floor. The floor lets a kernel flush what is below 2^-126:
// 2^-102 u = 2^-126.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using Lanes = double __attribute__((vector_size(64)));
using Bits = std::int64_t __attribute__((vector_size(64)));
using Floats = float __attribute__((vector_size(32)));
constexpr std::int64_t W = 8;

Lanes load(const float* p) {
  Floats f;
  std::memcpy(&f, p, sizeof f);
  return __builtin_convertvector(f, Lanes);
}

// exp(x) for x <= 0, relative error below 1e-15, and e^-300 for all x below -300: nothing to fp32, and no
// subnormal number enters the sums (each costs the processor 150 cycles). Cody-Waite reduction by ln 2, then
// a Taylor polynomial of degree 13 on [-ln2/2, ln2/2] (remainder below 2^-57).
Lanes exp_lanes(Lanes x) {
  const Lanes low = Lanes{} - 300.0;
  x = x > low ? x : low; // also keeps the infinite t of an overflowing row in range
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
  return p * reinterpret_cast<Lanes>((n + 1023) << 52); // times 2^k
}

/// sum_b m_b^2 of the positive terms e, whose sum is `total`. Groups are told apart by a hash over at
/// least 2 n places: terms that all differ give at most about 1.5 n.
double crowding(const double* e, std::int64_t n, double total) {
  struct Place {
    std::uint32_t row = 0, count = 0; // the count holds if the row does: nothing has to be cleared
  };
  static thread_local std::vector<Place> places;
  static thread_local std::uint32_t row = 0;
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(2 * n - 1)));
  if (places.size() < std::size_t{1} << bits || ++row == 0) {
    places.assign(std::max(places.size(), std::size_t{1} << bits), {});
    row = 1;
  }
  const double scale = 0x1p24 / total;
  std::uint64_t squares = 0; // m^2 = 1 + 3 + ... + (2 m - 1)
  for (std::int64_t i = 0; i < n; ++i) {
    const auto group = static_cast<std::uint32_t>(static_cast<std::int64_t>(e[i] * scale));
    Place& at = places[(group * 0x9E3779B1U) >> (32 - bits)];
    const std::uint32_t before = at.row == row ? at.count : 0;
    at = {row, before + 1};
    squares += 2 * std::uint64_t{before} + 1;
  }
  return static_cast<double>(squares);
}

double sum(Lanes v) {
  double s = 0;
  for (std::int64_t l = 0; l < W; ++l)
    s += v[l];
  return s;
}

} // namespace

// x [rows, n]; y, s [rows, n]
extern "C" int oracle(const float* x, double* y, double* s, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n, s += n) {
    float largest[16], top = x[0];
    for (float& v : largest)
      v = x[0];
    std::int64_t i = 0;
    for (; i + 16 <= n; i += 16)
      for (int l = 0; l < 16; ++l)
        largest[l] = x[i + l] > largest[l] ? x[i + l] : largest[l];
    for (float v : largest)
      top = v > top ? v : top;
    for (; i < n; ++i)
      top = x[i] > top ? x[i] : top;

    const double peak = static_cast<double>(top);
    Lanes total{}, weighted{};
    double tail_total = 0, tail_weighted = 0;
    for (i = 0; i + W <= n; i += W) {
      const Lanes t = load(x + i) - peak;
      const Lanes e = exp_lanes(t);
      std::memcpy(y + i, &e, sizeof e);
      total += e;
      weighted -= e * t;
    }
    for (; i < n; ++i) {
      const double t = static_cast<double>(x[i]) - peak;
      y[i] = std::exp(t > -300 ? t : -300.0);
      tail_total += y[i];
      tail_weighted -= y[i] * t;
    }
    const double all = sum(total) + tail_total;
    const double common =
        2 + std::sqrt(crowding(y, n, all)) * 3 / 8 + (sum(weighted) + tail_weighted) / all;
    for (i = 0; i < n; ++i) {
      y[i] = y[i] / all;
      s[i] = y[i] * (common + (peak - static_cast<double>(x[i]))) + 0x1p-102;
    }
  }
  return 0;
}
