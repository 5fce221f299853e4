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
//   at
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

using Lanes = double __attribute__((vector_size(64)));
constexpr std::int64_t W = 8, vectors = D / W;
constexpr std::int64_t rows_per_task = 8; // four rows of doubles each: 32 KiB
constexpr std::int64_t longest_chunk = 64;
static_assert(D % W == 0 && D % rows_per_task == 0 && value_heads % key_heads == 0);

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
double sum(Lanes v) {
  double s = 0;
  for (std::int64_t l = 0; l < W; ++l)
    s += v[l];
  return s;
}

struct Row { // D elements
  Lanes at[vectors];
};
Row widen(const std::uint16_t* bf16) {
  Row out;
  for (std::int64_t i = 0; i < D; ++i)
    out.at[i / W][i % W] = value(bf16[i]);
  return out;
}

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

struct StateRow {
  Row s, variance, common, recent;
};
struct Read {
  double y, size; // without scale
};

Read step(StateRow& state, const Row& k, const Row& q, double v, const Gates& gate) {
  const double g = gate.decay, G = gate.decay_error, beta = gate.beta;
  Lanes predicted{}, predicted_size{}, seen{}, along{};
  for (std::int64_t i = 0; i < vectors; ++i) {
    predicted += state.s.at[i] * k.at[i];
    predicted_size += state.recent.at[i] * absolute(k.at[i]);
    seen += state.variance.at[i] * k.at[i] * k.at[i];
    along += state.common.at[i] * k.at[i];
  }
  const double p = g * sum(predicted), c = beta * (v - p);
  const double c_size =
      beta * gate.beta_error * (std::fabs(v) + G * g * sum(predicted_size)) + floor_s;
  const double forgotten = 2 * beta, spread = beta * beta * sum(seen),
               fading = 0x1.fa7c1819e90d8p-1 * g, common = beta * (g * sum(along) + G * p);
  Lanes out{}, out_size{}, out_variance{}, out_common{};
  for (std::int64_t i = 0; i < vectors; ++i) {
    const Lanes key = k.at[i], query = q.at[i], kept = g * state.s.at[i], squared = key * key;
    const Lanes next = without_trace(kept + c * key);
    const Lanes own = G * kept, before = fading * state.recent.at[i],
                size = absolute(next) + floor_s;
    const Lanes recent = before > size ? before : size;
    const Lanes variance =
        g * g * (state.variance.at[i] * (1 - forgotten * squared) + spread * squared) + own * own +
        c_size * c_size * squared + floor_s * floor_s;
    const Lanes shared = without_trace(g * state.common.at[i] + own - common * key);
    state.s.at[i] = next, state.variance.at[i] = variance, state.common.at[i] = shared;
    state.recent.at[i] = recent;
    const Lanes product = next * query;
    out += product;
    out_size += recent * absolute(query);
    out_variance += variance * query * query;
    out_common += shared * query;
  }
  return {sum(out), sum(out_size) +
                        std::sqrt(static_cast<double>(D) * std::max(sum(out_variance), 0.0)) +
                        common_share * std::fabs(sum(out_common))};
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
  constexpr std::int64_t tasks_per_head = D / rows_per_task;
  parallel(sequences * value_heads * tasks_per_head, [&](std::int64_t task) {
    const std::int64_t n = task / (value_heads * tasks_per_head),
                       h = task / tasks_per_head % value_heads;
    const std::int64_t first = task % tasks_per_head * rows_per_task, begin = cu_seqlens[n],
                       end = cu_seqlens[n + 1];
    const std::int64_t from = ((n * value_heads + h) * D + first) * D;
    StateRow rows[rows_per_task] = {};
    if (begin < end)
      for (std::int64_t i = 0; i < rows_per_task * D; ++i) {
        const double x = static_cast<double>(state[from + i]);
        rows[i / D].s.at[i % D / W][i % W] = x;
        rows[i / D].recent.at[i % D / W][i % W] = std::fabs(x);
      }
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t at = t * value_heads + h,
                         pair = (t * key_heads + h / (value_heads / key_heads)) * D;
      const Row key = widen(k + pair), query = widen(q + pair);
      for (std::int64_t r = 0; r < rows_per_task; ++r) {
        const std::int64_t to = at * D + first + r;
        const Read read =
            step(rows[r], key, query, value(v[to]), gate[static_cast<std::size_t>(at)]);
        o[to] = factor * read.y;
        os[to] = std::fabs(factor) * read.size + floor_s;
      }
    }
    for (std::int64_t i = 0; i < rows_per_task * D; ++i) {
      const StateRow& row = rows[i / D];
      const std::int64_t at = i % D / W, lane = i % W;
      next[from + i] = row.s.at[at][lane];
      next_s[from + i] = row.recent.at[at][lane] +
                         std::sqrt(std::max(row.variance.at[at][lane], 0.0)) +
                         common_share * std::fabs(row.common.at[at][lane]) + floor_s;
    }
  });
  return 0;
}
