// SPDX-License-Identifier: Apache-2.0
// LayerNorm in fp64, with the magnitude of the rounding errors that fp32 arithmetic may make.
//
//   m = mean x,  d_i = x_i - m,  v = mean d^2,  r = 1/sqrt(v + eps),  y_i = d_i r w_i + b_i
//
// First-order errors of a stable fp32 evaluation, in units of u = 2^-24:
//   the mean     running sums or running means round n times, at worst with
//                steps of the size A = mean|x|                                   A (1 + K_x/4)
//   x_i - m                                                                      |d_i|
//   r            v sums n positive squares, then a root and a quotient           |d_i| (2 + 3/16 K_d)
//   products and the final addition                                              |d_i|, |b_i|
// The rounding error of one addition depends on the term's place between multiples of an ulp of the
// running sum: terms that agree to within half an ulp err with one sign and add up, groups of them
// have independent signs and add up like a random walk. With m_b terms in the group b of those with
// the same floor(term / (2^-24 n A)), for squares floor(d^2 / (2^-24 sum d^2)), K = sqrt(sum_b m_b^2):
// sqrt(n) if all differ, n if all are equal.
// S_i = |w_i| r (|d_i| (4 + 3/16 K_d) + A (1 + K_x/4)) + |b_i| + floor.
// The floor, 2^-102 u = 2^-126, covers subnormal intermediate results.
// E[x^2] - E[x]^2 loses digits by m^2 / v, which S does not allow: it fails on rows with an offset.
#include <bit>
#include <cmath>
#include <cstddef>
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

/// Square root of sum_b m_b^2 over the n values, where group b holds those with the same
/// floor(value / unit). Groups are told apart by a hash over 2 n places: values that all differ give
/// at most about 1.3 sqrt(n).
class Crowding {
 public:
  explicit Crowding(double unit) : scale_(1 / unit) { ++round; }
  void add(double value) {
    const auto group = static_cast<std::uint32_t>(static_cast<std::int64_t>(std::floor(value * scale_)));
    Place& at = places[(group * 0x9E3779B1U) >> (32 - bits)];
    const std::uint64_t before = at.round == round ? at.count : 0;
    at = {round, before + 1};
    squares_ += 2 * before + 1; // m^2 = 1 + 3 + ... + (2 m - 1)
  }
  [[nodiscard]] double value() const { return std::sqrt(static_cast<double>(squares_)); }

 private:
  struct Place {
    std::uint64_t round, count; // the count holds if the round does: nothing has to be cleared
  };
  static constexpr unsigned bits = std::bit_width(static_cast<std::uint64_t>(2 * n - 1));
  static thread_local inline Place places[std::size_t{1} << bits];
  static thread_local inline std::uint64_t round = 0;
  double scale_;
  std::uint64_t squares_ = 0;
};

} // namespace

// x [rows, n], w, b [n]; y, s [rows, n]
extern "C" int oracle(const float* x, const float* w, const float* b, double* y, double* s, std::int64_t rows) {
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
    Crowding x_groups(0x1p-24 * n * mean_size + 0x1p-200), d_groups(0x1p-24 * squares + 0x1p-200);
    for (std::int64_t i = 0; i < n; ++i)
      x_groups.add(static_cast<double>(x[i]));
    const double mean_error = mean_size * (1 + x_groups.value() / 4);
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = static_cast<double>(x[i]) - mean;
      d_groups.add(d * d);
    }
    const double spread_error = 4 + d_groups.value() * 3 / 16;
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
