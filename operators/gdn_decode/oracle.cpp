// SPDX-License-Identifier: Apache-2.0
// One step of the gated delta rule in fp64, per sequence and value head (state S [V, K], key axis last):
//
//   g = exp(-E), E = exp(A_log) softplus(z), z = a + dt_bias;   beta = sigmoid(b)
//   p_v = sum_k g S_vk k_k;   c_v = beta (v_v - p_v)
//   S'_vk = g S_vk + c_v k_k;   o_v = scale sum_k S'_vk q_k
//
// Magnitudes, in units of u = 2^-24, by propagating "value times relative error" through those lines:
//   g S_vk       relative error G = 2 + E (3 + |z| + |A_log|): exp turns the absolute error of E into a
//                relative one, and E itself inherits |z| from softplus and |A_log| from exp
//   c_v          D_v = beta (2 + |b|) (|v_v| + G sum_k |g S_vk k_k|)
//   S'_vk        M_vk = G |g S_vk| + D_v |k_k|
//   o_v          |scale| sum_k M_vk |q_k|; its rounding to bf16 is counted apart as 2^-8 |o_v|
// Each also has a floor of 2^-102 (times u: 2^-126) for subnormal intermediate results.
#include "kernwright.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t D = KW_AXIS_head_size, value_heads = KW_AXIS_num_v_heads, key_heads = KW_AXIS_num_k_heads;
constexpr double floor_s = 0x1p-102;

using Lanes = double __attribute__((vector_size(64)));
using Floats = float __attribute__((vector_size(32)));
constexpr std::int64_t W = 8;
static_assert(D % W == 0 && value_heads % key_heads == 0 && KW_AXIS_seq_len == 1);

double value(std::uint16_t bf16) { // bf16 is the upper half of a float
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return static_cast<double>(f);
}

Lanes load(const double* p) {
  Lanes v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
Lanes load(const float* p) {
  Floats f;
  std::memcpy(&f, p, sizeof f);
  return __builtin_convertvector(f, Lanes);
}
void store(double* p, Lanes v) { std::memcpy(p, &v, sizeof v); }
Lanes absolute(Lanes v) { return v < 0 ? -v : v; }
double sum(Lanes v) {
  double s = 0;
  for (std::int64_t l = 0; l < W; ++l)
    s += v[l];
  return s;
}

struct Gates {
  double decay, decay_error, beta, beta_error; // values and relative errors
};

Gates gates(double A_log, double z, double b) {
  const double softplus = z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
  const double E = std::exp(A_log) * softplus;
  return {std::exp(-E), 2 + E * (3 + std::fabs(z) + std::fabs(A_log)), 1 / (1 + std::exp(-b)), 2 + std::fabs(b)};
}

// One value head: state [D, D] in; o, os [D] and next, next_s [D, D] out.
void head(const double* q, const double* k, const std::uint16_t* v, const float* state, const Gates& gate,
          double scale, double* o, double* os, double* next, double* next_s) {
  for (std::int64_t row = 0; row < D; ++row, state += D, next += D, next_s += D) {
    Lanes predicted{}, predicted_size{};
    for (std::int64_t i = 0; i < D; i += W) {
      const Lanes kept = gate.decay * load(state + i) * load(k + i);
      predicted += kept;
      predicted_size += absolute(kept);
    }
    const double v_row = value(v[row]);
    const double c = gate.beta * (v_row - sum(predicted));
    const double p_size = gate.decay_error * sum(predicted_size);
    const double c_size = gate.beta * gate.beta_error * (std::fabs(v_row) + p_size) + floor_s;
    Lanes out{}, out_size{};
    for (std::int64_t i = 0; i < D; i += W) {
      const Lanes kept = gate.decay * load(state + i), key = load(k + i), query = load(q + i);
      const Lanes updated = kept + c * key;
      const Lanes size = gate.decay_error * absolute(kept) + c_size * absolute(key) + floor_s;
      store(next + i, updated);
      store(next_s + i, size);
      out += updated * query;
      out_size += size * absolute(query);
    }
    o[row] = scale * sum(out);
    os[row] = std::fabs(scale) * sum(out_size) + floor_s;
  }
}

template <class F> void parallel(std::int64_t count, F f) {
  kw_parallel_for(count, [](void* context, std::int64_t i) { (*static_cast<F*>(context))(i); }, &f);
}

} // namespace

// q, k [B, 1, 4, D], v [B, 1, 8, D], state [B, 8, D, D], A_log, dt_bias [8], a, b [B, 1, 8]
extern "C" int oracle(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, const float* state,
                      const float* A_log, const std::uint16_t* a, const float* dt_bias, const std::uint16_t* b,
                      float scale, double* o, double* os, double* next, double* next_s, std::int64_t batch) {
  const double factor = scale == 0 ? 1 / std::sqrt(static_cast<double>(D)) : static_cast<double>(scale);
  parallel(batch, [&](std::int64_t s) {
    for (std::int64_t h = 0; h < value_heads; ++h) {
      const std::int64_t at = s * value_heads + h, shared = s * key_heads + h / (value_heads / key_heads);
      double query[D], key[D];
      for (std::int64_t i = 0; i < D; ++i)
        query[i] = value(q[shared * D + i]), key[i] = value(k[shared * D + i]);
      const double z = value(a[at]) + static_cast<double>(dt_bias[h]);
      const Gates gate = gates(static_cast<double>(A_log[h]), z, value(b[at]));
      head(query, key, v + at * D, state + at * D * D, gate, factor, o + at * D, os + at * D, next + at * D * D,
           next_s + at * D * D);
    }
  });
  return 0;
}
