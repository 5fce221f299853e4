// SPDX-License-Identifier: Apache-2.0
// One gated delta rule step as loops that the compiler vectorises: for each row of the state what it
// holds for k, the update, and what the updated row holds for q.
//
//   LANES  independent partial sums of each product
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int64_t HQ = KW_AXIS_num_q_heads, HV = KW_AXIS_num_v_heads, D = KW_AXIS_head_size;
constexpr int LANES = KW_P_LANES;
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
  float scale;
  uint16_t* output;
  float* new_state;
  int64_t heads, tasks; ///< batch * HV
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

static void some_heads(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t end = c.heads * (task + 1) / c.tasks;
  for (int64_t at = c.heads * task / c.tasks; at < end; ++at) {
    const int64_t h = at % HV, shared = (at / HV * HQ + h / (HV / HQ)) * D;
    const float g = __builtin_expf(-__builtin_expf(c.a_log[h]) * softplus(widen1(c.a[at]) + c.dt_bias[h]));
    const float beta = 1.0f / (1.0f + __builtin_expf(-widen1(c.b[at])));
    float k[D], q[D];
    for (int64_t i = 0; i < D; ++i) {
      k[i] = widen1(c.k[shared + i]);
      q[i] = widen1(c.q[shared + i]);
    }
    for (int64_t row = at * D; row < (at + 1) * D; ++row) {
      const float* from = c.state + row * D;
      float* to = c.new_state + row * D;
      const float d = beta * (widen1(c.v[row]) - g * dot(from, k));
      for (int64_t i = 0; i < D; ++i)
        to[i] = g * from[i] + d * k[i];
      c.output[row] = narrow(c.scale * dot(to, q));
    }
  }
}

static int KW_ENTRY(const uint16_t* q, const uint16_t* k, const uint16_t* v, const float* state,
                    const float* a_log, const uint16_t* a, const float* dt_bias, const uint16_t* b,
                    float scale, uint16_t* output, float* new_state, int64_t batch) {
  Call c = {q, k, v, state, a_log, a, dt_bias, b,
            scale != 0 ? scale : 1.0f / __builtin_sqrtf(static_cast<float>(D)),
            output, new_state, batch * HV, kw_threads()};
  kw_parallel_for(c.tasks, some_heads, &c);
  return 0;
}

} // namespace KW_NAMESPACE
