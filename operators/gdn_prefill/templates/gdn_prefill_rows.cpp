// SPDX-License-Identifier: Apache-2.0
// The gated delta rule over packed sequences. Tokens are taken in blocks whose keys and queries are
// widened once; R rows of the state (value axis) then stay in registers through the whole block:
//   p = S k,  s = S q,  d = beta (v - g p),  S' = g S + d k,  o = scale (g s + d (q k))
// where the last form reads the updated state before it is there. Vectors of 64 or 32 bytes.
//
//   R      rows in registers at a time; their sums are formed together
//   B      tokens in a block
//   AHEAD  1: what the next token predicts is formed from g S and d apart,
//          S' k' = g (S k') + d (k k'), so that it need not wait for d
#include "kernwright.h"

namespace KW_NAMESPACE {

#ifdef __AVX512F__
constexpr int W = 16;
#else
constexpr int W = 8;
#endif
typedef float v4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));
typedef float vec __attribute__((vector_size(4 * W)));
typedef float vecu __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef unsigned words __attribute__((vector_size(4 * W)));
typedef uint16_t halves __attribute__((vector_size(2 * W)));
typedef uint16_t halvesu __attribute__((vector_size(2 * W), aligned(2), may_alias));

constexpr int64_t HQ = KW_AXIS_num_q_heads, HV = KW_AXIS_num_v_heads, D = KW_AXIS_head_size, B = KW_P_B;
constexpr int R = KW_P_R, V = D / W;
static_assert(D % W == 0 && D % R == 0, "whole vectors and whole groups of rows");

static inline vec load(const float* p) { return *reinterpret_cast<const vecu*>(p); }
static inline void store(float* p, vec x) { *reinterpret_cast<vecu*>(p) = x; }
static inline vec widen(const uint16_t* p) {
  const halves bits = *reinterpret_cast<const halvesu*>(p);
  return vec(__builtin_convertvector(bits, words) << 16);
}
static inline float widen1(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline uint16_t narrow(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static inline float total(vec x) {
#ifdef __AVX512F__
  const v8 half = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                  __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  const v8 half = x;
#endif
  const v4 quarter = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
                     __builtin_shufflevector(half, half, 4, 5, 6, 7);
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

/// log(1 + e^x). The quotient undoes the rounding of 1 + e^x where e^x is small.
static inline float softplus(float x) {
  if (x > 20.0f)
    return x;
  const float e = __builtin_expf(x), w = 1.0f + e;
  return w == 1.0f ? e : __builtin_logf(w) * (e / (w - 1.0f));
}

struct Call {
  const uint16_t *q, *k, *v;
  const float *state, *a_log;
  const uint16_t* a;
  const float* dt_bias;
  const uint16_t* b;
  const int64_t* cu;
  float scale;
  uint16_t* output;
  float* new_state;
};

struct Block {
  vec k[B + 1][V], q[B][V]; ///< one key more: what the last token of a block looks ahead to
  float g[B], beta[B], qk[B], kk[B]; ///< kk: key by next key
};

/// Tokens [t, t + count) of head h.
static inline void widen_block(const Call& c, int64_t h, int64_t t, int64_t count, float rate, Block& out) {
  for (int64_t n = 0; n < count; ++n) {
    const int64_t at = (t + n) * HV + h, shared = ((t + n) * HQ + h / (HV / HQ)) * D;
    out.g[n] = __builtin_expf(-rate * softplus(widen1(c.a[at]) + c.dt_bias[h]));
    out.beta[n] = 1.0f / (1.0f + __builtin_expf(-widen1(c.b[at])));
    vec both = {};
#pragma GCC unroll 16
    for (int i = 0; i < V; ++i) {
      out.k[n][i] = widen(c.k + shared + W * i);
      out.q[n][i] = widen(c.q + shared + W * i);
      both += out.k[n][i] * out.q[n][i];
    }
    out.qk[n] = total(both);
  }
#if KW_P_AHEAD
  for (int i = 0; i < V; ++i)
    out.k[count][i] = vec{};
  for (int64_t n = 0; n < count; ++n) {
    vec both = {};
    for (int i = 0; i < V; ++i)
      both += out.k[n][i] * out.k[n + 1][i];
    out.kk[n] = total(both);
  }
#endif
}

/// R rows of the state through a block. `to` = element of v and output of the first token and row.
static inline void rows(const Call& c, const Block& in, int64_t count, int64_t to, float* state) {
  vec s[R][V];
  float p[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    vec sum = {};
#pragma GCC unroll 16
    for (int i = 0; i < V; ++i) {
      s[r][i] = load(state + r * D + W * i);
      sum += s[r][i] * in.k[0][i];
    }
    p[r] = total(sum);
  }
  for (int64_t n = 0; n < count; ++n, to += HV * D) {
    const float g = in.g[n], beta = in.beta[n], qk = in.qk[n];
    vec read[R] = {};
    [[maybe_unused]] vec next[R] = {};
#pragma GCC unroll 16
    for (int i = 0; i < V; ++i)
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        read[r] += s[r][i] * in.q[n][i];
#if KW_P_AHEAD
        next[r] += s[r][i] * in.k[n + 1][i];
#endif
      }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const float d = beta * (widen1(c.v[to + r]) - g * p[r]);
      c.output[to + r] = narrow(c.scale * (g * total(read[r]) + d * qk));
#if KW_P_AHEAD
      p[r] = g * total(next[r]) + d * in.kk[n];
#endif
#pragma GCC unroll 16
      for (int i = 0; i < V; ++i)
        s[r][i] = s[r][i] * g + in.k[n][i] * d;
    }
#if !KW_P_AHEAD
    if (n + 1 < count) {
      vec sum[R] = {};
#pragma GCC unroll 16
      for (int i = 0; i < V; ++i)
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
          sum[r] += s[r][i] * in.k[n + 1][i];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
        p[r] = total(sum[r]);
    }
#endif
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int i = 0; i < V; ++i)
      store(state + r * D + W * i, s[r][i]);
}

static void one_head(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t h = task % HV, begin = c.cu[task / HV], end = c.cu[task / HV + 1];
  float* state = c.new_state + task * D * D;
  for (int64_t i = 0; i < D * D; i += W)
    store(state + i, begin < end ? load(c.state + task * D * D + i) : vec{});
  const float rate = __builtin_expf(c.a_log[h]);
  Block in;
  for (int64_t t = begin; t < end; t += B) {
    const int64_t count = end - t < B ? end - t : B;
    widen_block(c, h, t, count, rate, in);
    for (int64_t row = 0; row < D; row += R)
      rows(c, in, count, (t * HV + h) * D + row, state + row * D);
  }
}

static int KW_ENTRY(const uint16_t* q, const uint16_t* k, const uint16_t* v, const float* state,
                    const float* a_log, const uint16_t* a, const float* dt_bias, const uint16_t* b,
                    const int64_t* cu, float scale, uint16_t* output, float* new_state, int64_t, int64_t seqs,
                    int64_t) {
  Call c = {q, k, v, state, a_log, a, dt_bias, b, cu,
            scale != 0 ? scale : 1.0f / __builtin_sqrtf(static_cast<float>(D)),
            output, new_state};
  kw_parallel_for(seqs * HV, one_head, &c);
  return 0;
}

} // namespace KW_NAMESPACE
