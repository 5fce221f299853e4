// SPDX-License-Identifier: Apache-2.0
// One gated delta rule step. Per sequence and value head the state S is 128 rows (value axis) of 128
// (key axis), streamed once: for each row
//   p = S k,  s = S q,  d = beta (v - g p),  S' = g S + d k,  o = scale (g s + d (q k))
// where the last form reads the updated state without a second pass over it.
//
//   R    rows at a time; their sums are formed together
//   NT   1: non-temporal stores of the new state
//   PF   rows ahead that the state is fetched, 0 = none; PFL to which cache level
//   PFO  rows ahead that the new state is taken for writing, 0 = none (NT = 0)
#include "kernwright.h"

namespace KW_NAMESPACE {

typedef float v4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));
typedef float v16 __attribute__((vector_size(64)));
typedef float v16u __attribute__((vector_size(64), aligned(4), may_alias));
typedef int v16i __attribute__((vector_size(64)));
typedef unsigned v16w __attribute__((vector_size(64)));
typedef uint16_t v16h __attribute__((vector_size(32)));
typedef uint16_t v16hu __attribute__((vector_size(32), aligned(2), may_alias));

constexpr int64_t HQ = KW_AXIS_num_q_heads, HV = KW_AXIS_num_v_heads, D = KW_AXIS_head_size;
constexpr int R = KW_P_R, V = D / 16;
static_assert(D % 16 == 0 && D % R == 0 && R % 2 == 0, "whole vectors and whole groups of rows");

/// prefetchw: the pinned -march has no flag for it, so the built-in would fetch for reading.
static inline void own(float* p) { __asm__ volatile("prefetchw %0" : : "m"(*p)); }
static inline v16 splat(float x) { return x - v16{}; }
static inline v16 load(const float* p) { return *reinterpret_cast<const v16u*>(p); }
static inline v16 widen(const uint16_t* p) {
  const v16h bits = *reinterpret_cast<const v16hu*>(p);
  return v16(__builtin_convertvector(bits, v16w) << 16);
}
static inline float widen1(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline uint16_t narrow(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static inline v4 fold(v16 x) {
  const v8 half = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                  __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3) +
         __builtin_shufflevector(half, half, 4, 5, 6, 7);
}
/// The sums of the elements of four vectors.
static inline v4 sum4(v16 a, v16 b, v16 c, v16 d) {
  constexpr v16i low = {0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29};
  constexpr v16i high = {2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31};
  constexpr v16i front = {0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29};
  constexpr v16i back = {2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31};
  const v16 ab = __builtin_shuffle(a, b, low) + __builtin_shuffle(a, b, high);
  const v16 cd = __builtin_shuffle(c, d, low) + __builtin_shuffle(c, d, high);
  return fold(__builtin_shuffle(ab, cd, front) + __builtin_shuffle(ab, cd, back));
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

static inline void head(const Call& c, int64_t at) {
  const int64_t batch = at / HV, h = at % HV;
  const float g = __builtin_expf(-__builtin_expf(c.a_log[h]) * softplus(widen1(c.a[at]) + c.dt_bias[h]));
  const float beta = 1.0f / (1.0f + __builtin_expf(-widen1(c.b[at])));
  const int64_t shared = (batch * HQ + h / (HV / HQ)) * D;
  v16 k[V], q[V], both = {};
#pragma GCC unroll 8
  for (int i = 0; i < V; ++i) {
    k[i] = widen(c.k + shared + 16 * i);
    q[i] = widen(c.q + shared + 16 * i);
    both += k[i] * q[i];
  }
  const v4 qk4 = fold(both);
  const float qk = (qk4[0] + qk4[1]) + (qk4[2] + qk4[3]);
  const float* from = c.state + at * D * D;
  float* to = c.new_state + at * D * D;
  for (int64_t row = 0; row < D; row += R, from += R * D, to += R * D) {
    v16 p[R] = {}, s[R] = {};
#pragma GCC unroll 8
    for (int i = 0; i < V; ++i)
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const v16 x = load(from + r * D + 16 * i);
        p[r] += x * k[i];
        s[r] += x * q[i];
#if KW_P_PF
        __builtin_prefetch(from + (r + KW_P_PF) * D + 16 * i, 0, 4 - KW_P_PFL);
#endif
#if KW_P_PFO && !KW_P_NT
        own(to + (r + KW_P_PFO) * D + 16 * i);
#endif
      }
#pragma GCC unroll 8
    for (int r = 0; r < R; r += 2) {
      const v4 ps = sum4(p[r], p[r + 1], s[r], s[r + 1]) * g;
#pragma GCC unroll 2
      for (int x = 0; x < 2; ++x) {
        const int64_t n = at * D + row + r + x;
        const float d = beta * (widen1(c.v[n]) - ps[x]);
        c.output[n] = narrow(c.scale * (ps[2 + x] + d * qk));
#pragma GCC unroll 8
        for (int i = 0; i < V; ++i) {
          const v16 y = load(from + (r + x) * D + 16 * i) * g + k[i] * d;
          float* out = to + (r + x) * D + 16 * i;
#if KW_P_NT
          __builtin_ia32_movntps512(out, y);
#else
          *reinterpret_cast<v16u*>(out) = y;
#endif
        }
      }
    }
  }
}

static void some_heads(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t end = c.heads * (task + 1) / c.tasks;
  for (int64_t i = c.heads * task / c.tasks; i < end; ++i)
    head(c, i);
#if KW_P_NT
  __builtin_ia32_sfence();
#endif
}

static int KW_ENTRY(const uint16_t* q, const uint16_t* k, const uint16_t* v, const float* state,
                    const float* a_log, const uint16_t* a, const float* dt_bias, const uint16_t* b,
                    float scale, uint16_t* output, float* new_state, int64_t batch) {
#if KW_P_NT
  if ((reinterpret_cast<uintptr_t>(new_state) & 63) != 0)
    return 1;
#endif
  Call c = {q, k, v, state, a_log, a, dt_bias, b,
            scale != 0 ? scale : 1.0f / __builtin_sqrtf(static_cast<float>(D)),
            output, new_state, batch * HV, kw_threads()};
  kw_parallel_for(c.tasks, some_heads, &c);
  return 0;
}

} // namespace KW_NAMESPACE
