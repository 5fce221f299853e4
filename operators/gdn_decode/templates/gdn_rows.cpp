// SPDX-License-Identifier: Apache-2.0
// One gated delta rule step. Per sequence and value head the state S is 128 rows (value axis) of 128
// (key axis), streamed once: for each row
//   p = S k,  s = S q,  d = beta (v - g p),  S' = g S + d k,  o = scale (g s + d (q k))
// where the last form reads the updated state without a second pass over it. Vectors of 64 or 32 bytes.
//
//   R    rows at a time; their sums are formed together
//   NT   1: non-temporal stores of the new state
//   PF   rows ahead that the state is fetched, 0 = none; PFL to which cache level
//   PFO  rows ahead that the new state is taken for writing, 0 = none (NT = 0)
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
typedef int lanes __attribute__((vector_size(4 * W)));
typedef unsigned words __attribute__((vector_size(4 * W)));
typedef uint16_t halves __attribute__((vector_size(2 * W)));
typedef uint16_t halvesu __attribute__((vector_size(2 * W), aligned(2), may_alias));

constexpr int64_t HQ = KW_AXIS_num_q_heads, HV = KW_AXIS_num_v_heads, D = KW_AXIS_head_size;
constexpr int R = KW_P_R, V = D / W;
static_assert(D % 16 == 0 && D % R == 0 && R % 2 == 0, "whole vectors and whole groups of rows");

/// prefetchw: the pinned -march has no flag for it, so the built-in would fetch for reading.
static inline void own(float* p) { __asm__ volatile("prefetchw %0" : : "m"(*p)); }
static inline vec load(const float* p) { return *reinterpret_cast<const vecu*>(p); }
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
#ifdef __AVX512F__
static inline v8 halved(vec x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
         __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
}
static inline void stream(float* p, vec x) { __builtin_ia32_movntps512(p, x); }
/// The same choice in each quarter of a vector.
static constexpr lanes quarters(int a, int b, int c, int d) {
  return lanes{a,     b,     c,     d,     a + 4,  b + 4,  c + 4,  d + 4,
               a + 8, b + 8, c + 8, d + 8, a + 12, b + 12, c + 12, d + 12};
}
#else
static inline v8 halved(vec x) { return x; }
static inline void stream(float* p, vec x) { __builtin_ia32_movntps256(p, x); }
/// The same choice in each half of a vector.
static constexpr lanes quarters(int a, int b, int c, int d) {
  return lanes{a, b, c, d, a + 4, b + 4, c + 4, d + 4};
}
#endif
static inline v4 fold(vec x) {
  const v8 half = halved(x);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3) +
         __builtin_shufflevector(half, half, 4, 5, 6, 7);
}
/// The sums of the elements of four vectors.
static inline v4 sum4(vec a, vec b, vec c, vec d) {
  constexpr lanes low = quarters(0, W, 1, W + 1), high = quarters(2, W + 2, 3, W + 3);
  constexpr lanes front = quarters(0, 1, W, W + 1), back = quarters(2, 3, W + 2, W + 3);
  const vec ab = __builtin_shuffle(a, b, low) + __builtin_shuffle(a, b, high);
  const vec cd = __builtin_shuffle(c, d, low) + __builtin_shuffle(c, d, high);
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
  vec k[V], q[V], both = {};
#pragma GCC unroll 16
  for (int i = 0; i < V; ++i) {
    k[i] = widen(c.k + shared + W * i);
    q[i] = widen(c.q + shared + W * i);
    both += k[i] * q[i];
  }
  const v4 qk4 = fold(both);
  const float qk = (qk4[0] + qk4[1]) + (qk4[2] + qk4[3]);
  const float* from = c.state + at * D * D;
  float* to = c.new_state + at * D * D;
  for (int64_t row = 0; row < D; row += R, from += R * D, to += R * D) {
    vec p[R] = {}, s[R] = {};
#pragma GCC unroll 16
    for (int i = 0; i < V; ++i)
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const vec x = load(from + r * D + W * i);
        p[r] += x * k[i];
        s[r] += x * q[i];
#if KW_P_PF
        if (W * i % 16 == 0) // once per line
          __builtin_prefetch(from + (r + KW_P_PF) * D + W * i, 0, 4 - KW_P_PFL);
#endif
#if KW_P_PFO && !KW_P_NT
        if (W * i % 16 == 0)
          own(to + (r + KW_P_PFO) * D + W * i);
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
#pragma GCC unroll 16
        for (int i = 0; i < V; ++i) {
          const vec y = load(from + (r + x) * D + W * i) * g + k[i] * d;
          float* out = to + (r + x) * D + W * i;
#if KW_P_NT
          stream(out, y);
#else
          *reinterpret_cast<vecu*>(out) = y;
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
