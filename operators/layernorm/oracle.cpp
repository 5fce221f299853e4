// SPDX-License-Identifier: Apache-2.0
// LayerNorm in fp64, with the magnitude of the rounding errors that fp32 arithmetic may make.
//
//   m = mean x,  d_i = x_i - m,  v = mean d^2,  r = 1/sqrt(v + eps),  y_i = d_i r w_i + b_i
//
// First-order errors of a stable fp32 evaluation, in units of u = 2^-24:
//   the mean     running sums or running means round n times: a random walk, at worst with steps of
//                the size A = mean|x|                                            A (1 + sqrt(n)/4)
//   x_i - m                                                                      |d_i|
//   r            v sums n positive squares, then a root and a quotient           |d_i| (2 + sqrt(n)/8)
//   products and the final addition                                              |d_i|, |b_i|
// Where addends are equal to within an ulp of the running sum, its errors have one sign and grow with
// the number of such addends: c_x and c_d count those near one of four probes of the row.
// S_i = |w_i| r (|d_i| (4 + sqrt(n)/8 + c_d/4) + A (1 + sqrt(n)/4 + c_x/8)) + |b_i| + floor.
// The floor, 2^-102 u = 2^-126, covers subnormal intermediate results.
// E[x^2] - E[x]^2 loses digits by m^2 / v, which S does not allow: it fails on rows with an offset.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t n = KW_AXIS_hidden_size;
constexpr double eps = 1e-5;

using Lanes = double __attribute__((vector_size(64)));
using Floats = float __attribute__((vector_size(32)));
constexpr std::int64_t W = 8;
static_assert(n % (2 * W) == 0);

Lanes load(const float* p) {
  Floats f;
  std::memcpy(&f, p, sizeof f);
  return __builtin_convertvector(f, Lanes);
}

Lanes absolute(Lanes v) { return v < 0 ? -v : v; }

double sum(Lanes v) {
  double s = 0;
  for (std::int64_t l = 0; l < W; ++l)
    s += v[l];
  return s;
}

// How many of n values lie within `near` of one of four probes spread over the row.
template <class Value> double crowded(Value value, double near) {
  using Bits = std::int64_t __attribute__((vector_size(64)));
  Bits hits{};
  for (std::int64_t p = 0; p < 4; ++p) {
    const double probe = value((2 * p + 1) * n / 8 / W * W)[0];
    for (std::int64_t i = 0; i < n; i += W) {
      const Lanes distance = value(i) - probe;
      hits -= (distance <= near) & (distance >= -near);
    }
  }
  double count = 0;
  for (std::int64_t l = 0; l < W; ++l)
    count += static_cast<double>(hits[l]);
  return count < n ? count : static_cast<double>(n);
}

} // namespace

// x [rows, n], w, b [n]; y, s [rows, n]
extern "C" int oracle(const float* x, const float* w, const float* b, double* y, double* s, std::int64_t rows) {
  const double root_n = std::sqrt(static_cast<double>(n));
  for (std::int64_t row = 0; row < rows; ++row, x += n, y += n, s += n) {
    Lanes total[2] = {}, size[2] = {}, square[2] = {};
    for (std::int64_t i = 0; i < n; i += 2 * W)
      for (int h = 0; h < 2; ++h) {
        const Lanes v = load(x + i + h * W);
        total[h] += v;
        size[h] += absolute(v);
      }
    const double mean = sum(total[0] + total[1]) / n;
    const double mean_size = sum(size[0] + size[1]) / n;
    for (std::int64_t i = 0; i < n; i += 2 * W)
      for (int h = 0; h < 2; ++h) {
        const Lanes d = load(x + i + h * W) - mean;
        square[h] += d * d;
      }
    const double squares = sum(square[0] + square[1]);
    const double r = 1 / std::sqrt(squares / n + eps);
    const auto element = [&](std::int64_t i) { return load(x + i); };
    const auto deviation = [&](std::int64_t i) {
      const Lanes d = load(x + i) - mean;
      return d * d;
    };
    const double mean_error = mean_size * (1 + root_n / 4 + crowded(element, 0x1p-25 * n * mean_size) / 8);
    const double spread_error = 4 + root_n / 8 + crowded(deviation, 0x1p-25 * squares) / 4;
    for (std::int64_t i = 0; i < n; i += W) {
      const Lanes d = load(x + i) - mean, scale = r * load(w + i), shift = load(b + i);
      const Lanes out = d * scale + shift;
      const Lanes size_i =
          absolute(scale) * (absolute(d) * spread_error + mean_error) + absolute(shift) + 0x1p-102;
      std::memcpy(y + i, &out, sizeof out);
      std::memcpy(s + i, &size_i, sizeof size_i);
    }
  }
  return 0;
}
