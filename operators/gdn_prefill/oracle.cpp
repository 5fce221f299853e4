// SPDX-License-Identifier: Apache-2.0
// The gated delta rule over packed sequences in fp64, per sequence and value head (state S [V, K],
// key axis last), token after token; rows of the state (one value v each) do not meet:
//
//   g = exp(-E), E = exp(A_log) softplus(z), z = a + dt_bias;   beta = sigmoid(b)
//   p = sum_k g S_k k_k;   c = beta (v - p);   S'_k = g S_k + c k_k;   o = scale sum_k S'_k q_k
//
// A sequence without tokens has the state 0. Tokens of no sequence (the contract has none) give 0.
//
// Magnitudes, in units of u = 2^-24. One token makes, as in a single step (operators/gdn_decode):
//   g S_k   relative error G = 2 + E (3 + |z| + |A_log|) + X, where X is the sum of E over the last
//           64 tokens: chunked forms take decays as exp of a difference of sums over a chunk
//   c       C = beta (2 + |b|) (|v| + G sum_k |g H_k k_k|)
//   S'_k    M_k^2 = (G |g S_k|)^2 + (C k_k)^2
// An error e of the state travels as e' = g (I - beta k k^T) e. Since |k| = 1 and 0 < beta < 1 no
// step makes it longer, while the same with absolute values grows by up to 1 + beta: worst cases
// cannot be summed. Instead:
//   D       independent roundings of different tokens: variances are summed,
//           D'_k = g^2 (D_k (1 - 2 beta k_k^2) + beta^2 k_k^2 sum_i k_i^2 D_i) + M_k^2,
//           exact for the sum over k (the squared length of e), and for each k where errors of
//           different k are uncorrelated
//   R       g is the same number for tokens with the same gate, and so is its rounding: over 1 / E
//           tokens it adds up. R is the derivative of the state by a relative error of all g at
//           once: R'_k = g R_k - beta k_k sum_i g R_i k_i + G (g S_k - beta p k_k)
//   H       what the state was within the last tokens, H'_k = max(2^(-1/64) g H_k, |S'_k|). Chunked
//           forms write the state as the decayed state before the chunk plus sum of c k, and p
//           alike; where the keys of a chunk overwrite what was there these cancel, and digits of H
//           are lost
// Together, D being a standard deviation and R a worst case that eta need not widen as much:
//   S'_k    H_k + sqrt(D_k) + |R_k| / 8
//   o       |scale| (sum_k H_k |q_k| + sqrt(K sum_k D_k q_k^2) + |sum_k R_k q_k| / 8); the root is

//           least sum_k sqrt(D_k) |q_k| (Cauchy-Schwarz), so that correlated errors are covered.
//           The rounding of o to bf16 is counted apart as 2^-8 |o|.
// Each also has a floor of 2^-102 (times u: 2^-126) for subnormal intermediate results.
#include "kernwright.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr std::int64_t D = KW_AXIS_head_size, value_heads = KW_AXIS_num_v_heads,
                       key_heads = KW_AXIS_num_k_heads;
constexpr double floor_s = 0x1p-102, common_share = 1.0 / 8;

#ifdef __AVX512F__
using Lanes = double __attribute__((vector_size(64)));
#else
using Lanes = double __attribute__((vector_size(32)));
#endif
constexpr std::int64_t W = sizeof(Lanes) / sizeof(double); // rows of the state that go together
constexpr std::int64_t longest_chunk = 64;
static_assert(D % W == 0 && D % 2 == 0 && value_heads % key_heads == 0);

double value(std::uint16_t bf16) { // bf16 is the upper half of a float
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return static_cast<double>(f);
}
Lanes absolute(Lanes v) {
  return v < 0 ? -v : v;
}
// What fades must not stay subnormal for hundreds of tokens: that is slow.
Lanes without_trace(Lanes v) {
  return absolute(v) < 0x1p-500 ? Lanes{} : v;
}
/// A key or query, and what the formulas need of it.
struct Row {
  double at[D], size[D], square[D];

  explicit Row(const std::uint16_t* bf16) {
    for (std::int64_t i = 0; i < D; ++i)
      at[i] = value(bf16[i]), size[i] = std::fabs(at[i]), square[i] = at[i] * at[i];
  }
};

struct Gates {
  double decay, decay_error, beta, beta_error; // values and relative errors
};

// Of one head and sequence: a, b and `out` [tokens], `value_heads` elements apart.
void gates(double A_log, double dt_bias, const std::uint16_t* a, const std::uint16_t* b,
           std::int64_t tokens, Gates* out) {
  double rates[longest_chunk] = {};
  for (std::int64_t t = 0; t < tokens;
       ++t, a += value_heads, b += value_heads, out += value_heads) {
    const double z = value(*a) + dt_bias, gate = value(*b);
    const double softplus = z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
    const double E = std::exp(A_log) * softplus;
    rates[t % longest_chunk] = E;
    double X = 0;
    for (const double rate : rates)
      X += rate;
    *out = {std::exp(-E), 2 + E * (3 + std::fabs(z) + std::fabs(A_log)) + X,
            1 / (1 + std::exp(-gate)), 2 + std::fabs(gate)};
  }
}

/// W rows, key axis first.
struct State {
  Lanes s[D], variance[D], common[D], recent[D];
};
struct Read {
  Lanes y, size; // without scale
};

Read step(State& state, const Row& k, const Row& q, Lanes v, const Gates& gate) {
  const double g = gate.decay, G = gate.decay_error, beta = gate.beta;
  Lanes predicted[2] = {}, predicted_size[2] = {}, seen[2] = {},
        along[2] = {}; // short chains of sums
  for (std::int64_t i = 0; i < D; i += 2)
    for (std::int64_t j = 0; j < 2; ++j) {
      predicted[j] += state.s[i + j] * k.at[i + j];
      predicted_size[j] += state.recent[i + j] * k.size[i + j];
      seen[j] += state.variance[i + j] * k.square[i + j];
      along[j] += state.common[i + j] * k.at[i + j];
    }
  const Lanes p = g * (predicted[0] + predicted[1]), c = beta * (v - p);
  const Lanes c_size =
      beta * gate.beta_error * (absolute(v) + G * g * (predicted_size[0] + predicted_size[1])) +
      floor_s;
  const Lanes c_square = c_size * c_size, spread = g * g * beta * beta * (seen[0] + seen[1]),
              common = beta * (g * (along[0] + along[1]) + G * p);
  const double fading = 0x1.fa7c1819e90d8p-1 * g;
  Lanes out{}, out_size{}, out_variance{}, out_common{};
  for (std::int64_t i = 0; i < D; ++i) {
    const double key = k.at[i], square = k.square[i], stays = g * g * (1 - 2 * beta * square);
    const Lanes kept = g * state.s[i], own = G * kept, next = without_trace(kept + c * key);
    const Lanes before = fading * state.recent[i], size = absolute(next) + floor_s;
    const Lanes recent = before > size ? before : size;
    const Lanes variance =
        state.variance[i] * stays + (spread + c_square) * square + own * own + floor_s * floor_s;
    const Lanes shared = without_trace(g * state.common[i] + own - common * key);
    state.s[i] = next, state.variance[i] = variance, state.common[i] = shared;
    state.recent[i] = recent;
    out += next * q.at[i];
    out_size += recent * q.size[i];
    out_variance += variance * q.square[i];
    out_common += shared * q.at[i];
  }
  for (std::int64_t l = 0; l < W; ++l)
    out_size[l] += std::sqrt(static_cast<double>(D) * std::max(out_variance[l], 0.0));
  return {out, out_size + common_share * absolute(out_common)};
}

template <class F> void parallel(std::int64_t count, F f) {
  kw_parallel_for(count, [](void* context, std::int64_t i) { (*static_cast<F*>(context))(i); }, &f);
}

} // namespace

// q, k [L, 4, D], v [L, 8, D], state [N, 8, D, D], A_log, dt_bias [8], a, b [L, 8],
// cu_seqlens [N + 1]
extern "C" int oracle(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v,
                      const float* state, const float* A_log, const std::uint16_t* a,
                      const float* dt_bias, const std::uint16_t* b, const std::int64_t* cu_seqlens,
                      float scale, double* o, double* os, double* next, double* next_s,
                      std::int64_t total, std::int64_t sequences, std::int64_t) {
  const double factor =
      scale == 0 ? 1 / std::sqrt(static_cast<double>(D)) : static_cast<double>(scale);
  std::vector<Gates> gate(static_cast<std::size_t>(total * value_heads));
  for (std::int64_t n = 0; n < sequences; ++n)
    for (std::int64_t h = 0; h < value_heads; ++h) {
      const std::int64_t at = cu_seqlens[n] * value_heads + h;
      gates(static_cast<double>(A_log[h]), static_cast<double>(dt_bias[h]), a + at, b + at,
            cu_seqlens[n + 1] - cu_seqlens[n], gate.data() + at);
    }
  for (std::int64_t t = 0; t < total; ++t)
    if (t < cu_seqlens[0] || t >= cu_seqlens[sequences]) {
      std::fill_n(o + t * value_heads * D, value_heads * D, 0.0);
      std::fill_n(os + t * value_heads * D, value_heads * D, floor_s);
    }
  constexpr std::int64_t tasks_per_head = D / W;
  parallel(sequences * value_heads * tasks_per_head, [&](std::int64_t task) {
    const std::int64_t n = task / (value_heads * tasks_per_head),
                       h = task / tasks_per_head % value_heads;
    const std::int64_t first = task % tasks_per_head * W, begin = cu_seqlens[n],
                       end = cu_seqlens[n + 1];
    const std::int64_t from = ((n * value_heads + h) * D + first) * D;
    State rows = {};
    if (begin < end)
      for (std::int64_t i = 0; i < D; ++i)
        for (std::int64_t l = 0; l < W; ++l) {
          const double x = static_cast<double>(state[from + l * D + i]);
          rows.s[i][l] = x, rows.recent[i][l] = std::fabs(x);
        }
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t at = t * value_heads + h,
                         pair = (t * key_heads + h / (value_heads / key_heads)) * D,
                         to = at * D + first;
      Lanes values;
      for (std::int64_t l = 0; l < W; ++l)
        values[l] = value(v[to + l]);
      const Read read =
          step(rows, Row(k + pair), Row(q + pair), values, gate[static_cast<std::size_t>(at)]);
      for (std::int64_t l = 0; l < W; ++l) {
        o[to + l] = factor * read.y[l];
        os[to + l] = std::fabs(factor) * read.size[l] + floor_s;
      }
    }
    for (std::int64_t i = 0; i < D; ++i)
      for (std::int64_t l = 0; l < W; ++l) {
        next[from + l * D + i] = rows.s[i][l];
        next_s[from + l * D + i] = rows.recent[i][l] +
                                   std::sqrt(std::max(rows.variance[i][l], 0.0)) +
                                   common_share * std::fabs(rows.common[i][l]) + floor_s;
      }
  });
  return 0;
}
