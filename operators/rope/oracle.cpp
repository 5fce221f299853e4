// SPDX-License-Identifier: Apache-2.0
// Rotary embedding in fp64:  (a, b) -> (a cos - b sin, b cos + a sin).
//
// fp32 rounds two products and one difference, all relative to S = |a cos| + |b sin| (or the swapped
// pair); the cached cosines are inputs, so cos^2 + sin^2 = 1 is not assumed. The floor, 2^-102 u =
// 2^-126, covers products in the subnormal range. The rounding to bf16 is counted apart as 2^-8 |y|.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t dim = KW_AXIS_head_dim, half = dim / 2;

double value(std::uint16_t bf16) { // bf16 is the upper half of a float
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return static_cast<double>(f);
}

void rotate(const std::uint16_t* x, const float* cosine, const float* sine, double* y, double* s) {
  for (std::int64_t j = 0; j < half; ++j) {
    const double a = value(x[j]), b = value(x[j + half]);
    const double c = static_cast<double>(cosine[j]), d = static_cast<double>(sine[j]);
    y[j] = a * c - b * d;
    y[j + half] = b * c + a * d;
    s[j] = std::fabs(a * c) + std::fabs(b * d) + 0x1p-102;
    s[j + half] = std::fabs(b * c) + std::fabs(a * d) + 0x1p-102;
  }
}

} // namespace

// q [tokens, 32, 128], k [tokens, 8, 128], cache [max_position, 128], positions [tokens]
extern "C" int oracle(const std::uint16_t* q, const std::uint16_t* k, const float* cache,
                      const std::int32_t* positions, double* q_out, double* q_s, double* k_out, double* k_s,
                      std::int64_t tokens) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    const float* row = cache + std::int64_t{positions[t]} * dim;
    for (std::int64_t h = t * KW_AXIS_num_qo_heads; h < (t + 1) * KW_AXIS_num_qo_heads; ++h)
      rotate(q + h * dim, row, row + half, q_out + h * dim, q_s + h * dim);
    for (std::int64_t h = t * KW_AXIS_num_kv_heads; h < (t + 1) * KW_AXIS_num_kv_heads; ++h)
      rotate(k + h * dim, row, row + half, k_out + h * dim, k_s + h * dim);
  }
  return 0;
}
