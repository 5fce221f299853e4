// SPDX-License-Identifier: Apache-2.0
// The gated delta rule over packed sequences as loops that the compiler vectorises. Tokens are taken in
// blocks: a row of the state meets all of a block while it lies in the nearest cache.
//
//   LANES  independent partial sums of each product
//   B      tokens in a block
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int64_t HQ = KW_AXIS_num_q_heads, HV = KW_AXIS_num_v_heads, D = KW_AXIS_head_size;
constexpr int LANES = KW_P_LANES;
constexpr int64_t B = KW_P_B;
static_assert(D % LANES == 0, "rows are whole groups of lanes");

static inline float widen1(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline uint16_t narrow(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
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

static inline float dot(const float* x, const float* y) {
  float lanes[LANES] = {}, total = 0;
  for (int64_t i = 0; i < D; i += LANES)
    for (int l = 0; l < LANES; ++l)
      lanes[l] += x[i + l] * y[i + l];
  for (int l = 0; l < LANES; ++l)
    total += lanes[l];
  return total;
}

/// Tokens [t, t + count) of head h, on its state where it will be left.
static inline void block(const Call& c, int64_t h, int64_t t, int64_t count, float rate, float* state) {
  float k[B][D], q[B][D], g[B], beta[B];
  for (int64_t n = 0; n < count; ++n) {
    const int64_t at = (t + n) * HV + h, shared = ((t + n) * HQ + h / (HV / HQ)) * D;
    g[n] = __builtin_expf(-rate * softplus(widen1(c.a[at]) + c.dt_bias[h]));
    beta[n] = 1.0f / (1.0f + __builtin_expf(-widen1(c.b[at])));
    for (int64_t i = 0; i < D; ++i) {
      k[n][i] = widen1(c.k[shared + i]);
      q[n][i] = widen1(c.q[shared + i]);
    }
  }
  for (int64_t row = 0; row < D; ++row) {
    float* s = state + row * D;
    for (int64_t n = 0; n < count; ++n) {
      const int64_t to = ((t + n) * HV + h) * D + row;
      const float d = beta[n] * (widen1(c.v[to]) - g[n] * dot(s, k[n]));
      for (int64_t i = 0; i < D; ++i)
        s[i] = g[n] * s[i] + d * k[n][i];
      c.output[to] = narrow(c.scale * dot(s, q[n]));
    }
  }
}

static void one_head(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t h = task % HV, begin = c.cu[task / HV], end = c.cu[task / HV + 1];
  float* state = c.new_state + task * D * D;
  for (int64_t i = 0; i < D * D; ++i)
    state[i] = begin < end ? c.state[task * D * D + i] : 0.0f;
  const float rate = __builtin_expf(c.a_log[h]);
  for (int64_t t = begin; t < end; t += B)
    block(c, h, t, end - t < B ? end - t : B, rate, state);
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
