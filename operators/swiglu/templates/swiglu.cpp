// SPDX-License-Identifier: Apache-2.0
// output = gate * sigmoid(gate) * up, element by element. Vectors of 64 or 32 bytes.
//
//   BF16    1: bf16 in and out; a vector is split into even and odd elements by shift and mask
//   EXP     floor:  2^t split into floor and fraction of t. Error up to 1 + |t| / 2 ulp
//           nearest: e^r with r = x - n ln 2 in two parts. Error about 1 ulp
//   DIVIDE  divide: the instruction, newton: reciprocal of 14 bits (12 with AVX2) and one step
//           (about 1 ulp, 2 with AVX2, where a sigmoid below 2^-126 becomes 0)
//   U       lines of 64 bytes per step
//   PF      lines ahead that the inputs are fetched, 0 = none
//   PFO     lines ahead that the output is taken for writing, 0 = none
//   NT      1: non-temporal stores
#include "kernwright.h"

namespace KW_NAMESPACE {

#if KW_P_BF16
typedef uint16_t element;
#else
typedef float element;
#endif
#ifdef __AVX512F__
constexpr int BYTES = 64;
#else
constexpr int BYTES = 32;
#endif
typedef float vec __attribute__((vector_size(BYTES)));
typedef float vecu __attribute__((vector_size(BYTES), aligned(2), may_alias));
typedef unsigned words __attribute__((vector_size(BYTES)));
typedef unsigned wordsu __attribute__((vector_size(BYTES), aligned(2), may_alias));
typedef int ints __attribute__((vector_size(BYTES)));

/// Elements in a line and in a vector.
constexpr int64_t D = KW_AXIS_intermediate_size, L = 64 / sizeof(element), W = BYTES / sizeof(element);
constexpr int U = KW_P_U;

/// prefetchw: the pinned -march has no flag for it, so the built-in would fetch for reading.
static inline void own(element* p) { __asm__ volatile("prefetchw %0" : : "m"(*p)); }
static inline vec splat(float x) { return x - vec{}; }

#ifdef __AVX512F__
constexpr float LOW = -105.0f, HIGH = 105.0f; // e^LOW + 1 = 1, e^HIGH is infinite
static inline vec min(vec a, vec b) { return __builtin_ia32_minps512_mask(a, b, a, 0xffff, 4); }
static inline vec max(vec a, vec b) { return __builtin_ia32_maxps512_mask(a, b, a, 0xffff, 4); }
static inline vec nearest(vec x) { return __builtin_ia32_rndscaleps_mask(x, 8, x, 0xffff, 4); }
static inline vec exponent(vec t) { return t; } // scalef takes any
/// t - floor(t)
static inline vec fraction(vec t) { return __builtin_ia32_reduceps512_mask_round(t, 9, t, 0xffff, 4); }
/// 1 + p 2^floor(t)
static inline vec one_plus_scaled(vec p, vec t) {
  return __builtin_ia32_scalefps512_mask(p, t, p, 0xffff, 4) + 1.0f;
}
static inline vec reciprocal(vec x) { return __builtin_ia32_rcp14ps512_mask(x, vec{}, 0xffff); }
static inline void stream(element* p, words x) {
  __builtin_ia32_movntps512(reinterpret_cast<float*>(p), vec(x));
}
#else
constexpr float LOW = -80.0f, HIGH = 92.0f;
static inline vec min(vec a, vec b) { return __builtin_ia32_minps256(a, b); }
static inline vec max(vec a, vec b) { return __builtin_ia32_maxps256(a, b); }
static inline vec nearest(vec x) { return __builtin_ia32_roundps256(x, 8); }
static inline vec exponent(vec t) { return min(splat(132.0f), max(splat(-115.0f), t)); }
static inline vec fraction(vec t) { return t - __builtin_ia32_roundps256(t, 9); }
/// 2^(n - 8) in the exponent bits, then 2^8, which may overflow to infinity: -117 < n < 136 for p in
/// [1/2, 2). A NaN becomes a number: the caller's product with x has it.
static inline vec one_plus_scaled(vec p, vec t) {
  const ints n = __builtin_convertvector(__builtin_ia32_roundps256(t, 9), ints);
  return vec(ints(p) + ((n - 8) << 23)) * 256.0f + 1.0f;
}
static inline vec reciprocal(vec x) { return __builtin_ia32_rcpps256(x); }
static inline void stream(element* p, words x) {
  __builtin_ia32_movntps256(reinterpret_cast<float*>(p), vec(x));
}
#endif

/// 1 + e^-x, infinite from about x < -88.7
static inline vec one_plus_exp(vec x) {
#if KW_P_EXP == KW_P_EXP_floor
  const vec t = exponent(x * -1.44269504f + 0.5f);
  const vec f = fraction(t);
  vec p = f * 0.00132764725f + 0.00635642326f;
  p = p * f + 0.039475169f;
  p = p * f + 0.169814244f;
  p = p * f + 0.490133226f;
  p = p * f + 0.707106709f; // 2^(f - 1/2)
  return one_plus_scaled(p, t);
#else
  const vec c = min(splat(HIGH), max(splat(LOW), -x)); // NaN passes
  const vec n = nearest(c * 1.44269504f);
  vec r = c - n * 0.693145752f; // exact: 16 bits
  r = r - n * 1.42860677e-6f;
  vec p = r * 0.00138367421f + 0.00837489869f;
  p = p * r + 0.0416682325f;
  p = p * r + 0.166664198f;
  p = p * r + 0.499999911f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return one_plus_scaled(p, n);
#endif
}

static inline vec swiglu(vec gate, vec up) {
  const vec d = one_plus_exp(gate);
#if KW_P_DIVIDE == KW_P_DIVIDE_divide
  return gate / d * up;
#else
  // An infinite d would make the step 0 * inf; there the sigmoid is 0.
  const vec y = reciprocal(d);
  const vec e = 1.0f - d * y;
  const vec s = d <= 0x1p126f ? y + y * e : y;
  return gate * s * up;
#endif
}

#if KW_P_BF16
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline words rounded(vec x) { return words(x) + 0x7fffu + ((words(x) >> 16) & 1u); }
static inline words step(const element* gate, const element* up) {
  const words g = *reinterpret_cast<const wordsu*>(gate), u = *reinterpret_cast<const wordsu*>(up);
  const vec even = swiglu(vec(g << 16), vec(u << 16));
  const vec odd = swiglu(vec(g & 0xffff0000u), vec(u & 0xffff0000u));
  return (rounded(even) >> 16) | (rounded(odd) & 0xffff0000u);
}
#else
static inline words step(const element* gate, const element* up) {
  return words(swiglu(*reinterpret_cast<const vecu*>(gate), *reinterpret_cast<const vecu*>(up)));
}
#endif

struct Call {
  const element *gate, *up;
  element* out;
  int64_t n, tasks;
};

static inline void line(const element* gate, const element* up, element* out) {
#pragma GCC unroll 2
  for (int64_t i = 0; i < L; i += W)
    *reinterpret_cast<wordsu*>(out + i) = step(gate + i, up + i);
}

static void some_elements(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t lines = c.n / L;
  int64_t i = lines * task / c.tasks * L;
  const int64_t end = lines * (task + 1) / c.tasks * L;
  for (; i + L * U <= end; i += L * U)
#pragma GCC unroll 8
    for (int u = 0; u < U; ++u) {
      const int64_t at = i + L * u;
#if KW_P_PF
      __builtin_prefetch(c.gate + at + L * KW_P_PF);
      __builtin_prefetch(c.up + at + L * KW_P_PF);
#endif
#if KW_P_PFO && !KW_P_NT
      own(c.out + at + L * KW_P_PFO);
#endif
#if KW_P_NT
#pragma GCC unroll 2
      for (int64_t w = at; w < at + L; w += W)
        stream(c.out + w, step(c.gate + w, c.up + w));
#else
      line(c.gate + at, c.up + at, c.out + at);
#endif
    }
  for (; i < end; i += L)
    line(c.gate + i, c.up + i, c.out + i);
  if (task + 1 == c.tasks && c.n % L != 0) {
    element gate[L] = {}, up[L] = {}, y[L];
    const size_t bytes = sizeof(element) * static_cast<size_t>(c.n % L);
    __builtin_memcpy(gate, c.gate + end, bytes);
    __builtin_memcpy(up, c.up + end, bytes);
    line(gate, up, y);
    __builtin_memcpy(c.out + end, y, bytes);
  }
#if KW_P_NT
  __builtin_ia32_sfence();
#endif
}

static int KW_ENTRY(const element* gate, const element* up, element* out, int64_t tokens) {
#if KW_P_NT
  if ((reinterpret_cast<uintptr_t>(out) & 63) != 0)
    return 1;
#endif
  Call c = {gate, up, out, tokens * D, kw_threads()};
  kw_parallel_for(c.tasks, some_elements, &c);
  return 0;
}

} // namespace KW_NAMESPACE
