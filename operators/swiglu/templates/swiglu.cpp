// SPDX-License-Identifier: Apache-2.0
// output = gate * sigmoid(gate) * up, element by element.
//
//   BF16    1: bf16 in and out; a vector of 32 is split into even and odd elements by shift and mask
//   EXP     floor:  2^t split into floor and fraction of t. Error up to 1 + |t| / 8 ulp
//           nearest: e^r with r = x - n ln 2 in two parts. Error about 1 ulp
//   DIVIDE  divide: the instruction, newton: 14-bit reciprocal and one step (about 1 ulp)
//   U       vectors per step
//   PF      vectors ahead that the inputs are fetched, 0 = none
//   PFO     vectors ahead that the output is taken for writing, 0 = none
//   NT      1: non-temporal stores
#include "kernwright.h"

namespace KW_NAMESPACE {

#if KW_P_BF16
typedef uint16_t element;
#else
typedef float element;
#endif
typedef float v16 __attribute__((vector_size(64)));
typedef float v16u __attribute__((vector_size(64), aligned(2), may_alias));
typedef unsigned v16w __attribute__((vector_size(64)));
typedef unsigned v16wu __attribute__((vector_size(64), aligned(2), may_alias));

constexpr int64_t D = KW_AXIS_intermediate_size, W = KW_P_BF16 ? 32 : 16;
constexpr int U = KW_P_U;

/// prefetchw: the pinned -march has no flag for it, so the built-in would fetch for reading.
static inline void own(element* p) { __asm__ volatile("prefetchw %0" : : "m"(*p)); }
static inline v16 splat(float x) { return x - v16{}; }

/// 1 + e^-x, infinite from about x < -88.7
static inline v16 one_plus_exp(v16 x) {
#if KW_P_EXP == KW_P_EXP_floor
  const v16 t = x * -1.44269504f + 0.5f;
  const v16 f = __builtin_ia32_reduceps512_mask_round(t, 9, t, 0xffff, 4); // t - floor(t)
  v16 p = f * 0.00132764725f + 0.00635642326f;
  p = p * f + 0.039475169f;
  p = p * f + 0.169814244f;
  p = p * f + 0.490133226f;
  p = p * f + 0.707106709f; // 2^(f - 1/2)
  return __builtin_ia32_scalefps512_mask(p, t, p, 0xffff, 4) + 1.0f;
#else
  const v16 low = splat(-105.0f), high = splat(105.0f); // NaN passes
  v16 c = __builtin_ia32_maxps512_mask(low, -x, low, 0xffff, 4);
  c = __builtin_ia32_minps512_mask(high, c, high, 0xffff, 4);
  const v16 n = __builtin_ia32_rndscaleps_mask(c * 1.44269504f, 8, c, 0xffff, 4);
  v16 r = c - n * 0.693145752f; // exact: 16 bits
  r = r - n * 1.42860677e-6f;
  v16 p = r * 0.00138367421f + 0.00837489869f;
  p = p * r + 0.0416682325f;
  p = p * r + 0.166664198f;
  p = p * r + 0.499999911f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return __builtin_ia32_scalefps512_mask(p, n, p, 0xffff, 4) + 1.0f;
#endif
}

static inline v16 swiglu(v16 gate, v16 up) {
  const v16 d = one_plus_exp(gate);
#if KW_P_DIVIDE == KW_P_DIVIDE_divide
  return gate / d * up;
#else
  // An infinite d would make the step 0 * inf; there the sigmoid is 0.
  const v16 y = __builtin_ia32_rcp14ps512_mask(d, v16{}, 0xffff);
  const v16 e = 1.0f - d * y;
  const v16 s = d <= 0x1p126f ? y + y * e : y;
  return gate * s * up;
#endif
}

#if KW_P_BF16
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline v16w rounded(v16 x) { return v16w(x) + 0x7fffu + ((v16w(x) >> 16) & 1u); }
static inline v16w step(const element* gate, const element* up) {
  const v16w g = *reinterpret_cast<const v16wu*>(gate), u = *reinterpret_cast<const v16wu*>(up);
  const v16 even = swiglu(v16(g << 16), v16(u << 16));
  const v16 odd = swiglu(v16(g & 0xffff0000u), v16(u & 0xffff0000u));
  return (rounded(even) >> 16) | (rounded(odd) & 0xffff0000u);
}
#else
static inline v16w step(const element* gate, const element* up) {
  return v16w(swiglu(*reinterpret_cast<const v16u*>(gate), *reinterpret_cast<const v16u*>(up)));
}
#endif

struct Call {
  const element *gate, *up;
  element* out;
  int64_t n, tasks;
};

static void some_elements(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t vectors = c.n / W;
  int64_t i = vectors * task / c.tasks * W;
  const int64_t end = vectors * (task + 1) / c.tasks * W;
  for (; i + W * U <= end; i += W * U)
#pragma GCC unroll 8
    for (int u = 0; u < U; ++u) {
      const int64_t at = i + W * u;
#if KW_P_PF
      __builtin_prefetch(c.gate + at + W * KW_P_PF);
      __builtin_prefetch(c.up + at + W * KW_P_PF);
#endif
#if KW_P_PFO && !KW_P_NT
      own(c.out + at + W * KW_P_PFO);
#endif
      const v16w y = step(c.gate + at, c.up + at);
#if KW_P_NT
      __builtin_ia32_movntps512(reinterpret_cast<float*>(c.out + at), v16(y));
#else
      *reinterpret_cast<v16wu*>(c.out + at) = y;
#endif
    }
  for (; i < end; i += W)
    *reinterpret_cast<v16wu*>(c.out + i) = step(c.gate + i, c.up + i);
  if (task + 1 == c.tasks && c.n % W != 0) {
    element gate[W] = {}, up[W] = {};
    const size_t bytes = sizeof(element) * static_cast<size_t>(c.n % W);
    __builtin_memcpy(gate, c.gate + end, bytes);
    __builtin_memcpy(up, c.up + end, bytes);
    const v16w y = step(gate, up);
    __builtin_memcpy(c.out + end, &y, bytes);
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
