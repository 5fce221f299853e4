// SPDX-License-Identifier: Apache-2.0
// Row softmax in three sweeps over a row that stays in cache: maximum, exponentials and their sum,
// scaling. 512-bit vectors, tails by mask.
//
//   EXP    floor:  2^t split into floor and fraction of t = (x - max) log2 e. Error up to 1 + |t| / 8 ulp
//          nearest: e^r with r = (x - max) - n ln 2 in two parts; clamps first. Error about 1 ulp
//   DEGREE of the polynomial: 5 (0.6 ulp) or 6
//   U      vectors per step with sums of their own
//   R      rows in flight
//   KEEP   1: exponentials go to the workspace and only the result to y, 0: y is scaled in place
//   NT     1: non-temporal stores of the result (KEEP = 1)
//   PF     vectors ahead that the first sweep fetches, 0 = none
//   PFO    when y is fetched for writing: 0 never, 1 during the first sweep, else that many vectors
//          ahead of the second. Pays where another core wrote y last.
#include "kernwright.h"

namespace KW_NAMESPACE {

typedef float v4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));
typedef float v16 __attribute__((vector_size(64)));
typedef float v16u __attribute__((vector_size(64), aligned(4), may_alias));

constexpr int U = KW_P_U, W = 16;
constexpr float LOWEST = -__builtin_huge_valf();

/// prefetchw: the pinned -march has no flag for it, so the built-in would fetch for reading.
static inline void own(float* p) { __asm__ volatile("prefetchw %0" : : "m"(*p)); }

static inline v16 splat(float x) { return x - v16{}; }
static inline v16 load(const float* p) { return *reinterpret_cast<const v16u*>(p); }
static inline unsigned short lanes(int64_t count) {
  return static_cast<unsigned short>((1u << count) - 1);
}
static inline v16 load_some(const float* p, int64_t count, float rest) {
  return __builtin_ia32_loadups512_mask(p, splat(rest), lanes(count));
}
static inline v16 larger(v16 a, v16 b) {
  return __builtin_ia32_maxps512_mask(a, b, a, 0xffff, 4);
}

static inline v16 exp_of(v16 x, v16 max) {
  const v16 d = x - max;
#if KW_P_EXP == KW_P_EXP_floor
  const v16 t = d * 1.44269504f + 0.5f;
  const v16 f = __builtin_ia32_reduceps512_mask_round(t, 9, t, 0xffff, 4); // t - floor(t)
#if KW_P_DEGREE == 5
  v16 p = f * 0.00132764725f + 0.00635642326f;
  p = p * f + 0.039475169f;
  p = p * f + 0.169814244f;
  p = p * f + 0.490133226f;
  p = p * f + 0.707106709f; // 2^(f - 1/2)
#else
  v16 p = f * 0.000153458124f + 0.000879618747f;
  p = p * f + 0.00684397388f;
  p = p * f + 0.0392326489f;
  p = p * f + 0.169868141f;
  p = p * f + 0.490128934f;
  p = p * f + 0.707106769f;
#endif
  return __builtin_ia32_scalefps512_mask(p, t, p, 0xffff, 4); // p * 2^floor(t)
#else
  const v16 c = larger(splat(-105.0f), d); // below the least subnormal; NaN passes
  const v16 n = __builtin_ia32_rndscaleps_mask(c * 1.44269504f, 8, c, 0xffff, 4);
  v16 r = c - n * 0.693145752f; // exact: 16 bits
  r = r - n * 1.42860677e-6f;
#if KW_P_DEGREE == 5
  v16 p = r * 0.00829758402f + 0.0419158749f;
  p = p * r + 0.166675776f;
  p = p * r + 0.499988914f;
  p = p * r + 0.999999702f;
  p = p * r + 1.00000012f;
#else
  v16 p = r * 0.00138367421f + 0.00837489869f;
  p = p * r + 0.0416682325f;
  p = p * r + 0.166664198f;
  p = p * r + 0.499999911f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
#endif
  return __builtin_ia32_scalefps512_mask(p, n, p, 0xffff, 4);
#endif
}

static inline v8 upper(v16 x) {
  return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
}
static inline v8 lower(v16 x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7); }
static inline float sum(v16 x) {
  const v8 a = lower(x) + upper(x);
  v4 b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
  b += __builtin_shufflevector(b, b, 2, 3, 0, 1);
  return b[0] + b[1];
}
static inline v16 largest(v16 x) {
  x = larger(x, __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  x = larger(x, __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  x = larger(x, __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  return larger(x, __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
}

/// R rows x[r], results y[r]; e[r] is where exponentials wait for their sum.
template <int R>
static inline void rows_at_once(const float* x, float* y, float* e, int64_t x_stride,
                                int64_t e_stride, int64_t n) {
  const int64_t whole = n / W * W, rest = n - whole;
  v16 max[R][U];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int u = 0; u < U; ++u)
      max[r][u] = splat(LOWEST);
  int64_t i = 0;
  for (; i + W * U <= n; i += W * U)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int u = 0; u < U; ++u) {
        max[r][u] = larger(max[r][u], load(x + r * x_stride + i + W * u));
#if KW_P_PF
        __builtin_prefetch(x + r * x_stride + i + W * (u + KW_P_PF));
#endif
#if KW_P_PFO == 1
        own(y + r * x_stride + i + W * u);
#endif
      }
  for (; i < whole; i += W)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
      max[r][0] = larger(max[r][0], load(x + r * x_stride + i));
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int u = 1; u < U; ++u)
      max[r][0] = larger(max[r][0], max[r][u]);
    if (rest)
      max[r][0] = larger(max[r][0], load_some(x + r * x_stride + whole, rest, LOWEST));
    max[r][0] = largest(max[r][0]);
  }

  v16 total[R][U] = {};
  for (i = 0; i + W * U <= n; i += W * U)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int u = 0; u < U; ++u) {
        const v16 v = exp_of(load(x + r * x_stride + i + W * u), max[r][0]);
#if KW_P_PFO > 1
        own(y + r * x_stride + i + W * (u + KW_P_PFO));
#endif
        *reinterpret_cast<v16u*>(e + r * e_stride + i + W * u) = v;
        total[r][u] += v;
      }
  for (; i < whole; i += W)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const v16 v = exp_of(load(x + r * x_stride + i), max[r][0]);
      *reinterpret_cast<v16u*>(e + r * e_stride + i) = v;
      total[r][0] += v;
    }
  v16 scale[R], last[R] = {};
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int u = 1; u < U; ++u)
      total[r][0] += total[r][u];
    if (rest) {
      last[r] = exp_of(load_some(x + r * x_stride + whole, rest, LOWEST), max[r][0]);
      total[r][0] += last[r];
    }
    scale[r] = splat(1.0f / sum(total[r][0]));
  }

#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    float* out = y + r * x_stride;
#if KW_P_NT
    if ((reinterpret_cast<uintptr_t>(out) & 63) == 0) {
      for (i = 0; i < whole; i += W)
        __builtin_ia32_movntps512(out + i, load(e + r * e_stride + i) * scale[r]);
    } else
#endif
#pragma GCC unroll 4
      for (i = 0; i < whole; i += W)
        *reinterpret_cast<v16u*>(out + i) = load(e + r * e_stride + i) * scale[r];
    if (rest)
      __builtin_ia32_storeups512_mask(out + whole, last[r] * scale[r], lanes(rest));
  }
}

struct Call {
  const float* x;
  float *y, *wait;
  int64_t rows, n, wait_stride, tasks;
};

static void some_rows(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  constexpr int R = KW_P_R;
  const int64_t end = c.rows * (task + 1) / c.tasks;
  float* wait = c.wait + task * R * c.wait_stride;
  int64_t i = c.rows * task / c.tasks;
  for (; i + R <= end; i += R)
    rows_at_once<R>(c.x + i * c.n, c.y + i * c.n, KW_P_KEEP ? wait : c.y + i * c.n, c.n,
                    KW_P_KEEP ? c.wait_stride : c.n, c.n);
  if constexpr (R > 1)
    for (; i < end; ++i)
      rows_at_once<1>(c.x + i * c.n, c.y + i * c.n, KW_P_KEEP ? wait : c.y + i * c.n, c.n,
                      KW_P_KEEP ? c.wait_stride : c.n, c.n);
#if KW_P_NT
  __builtin_ia32_sfence();
#endif
}

static int KW_ENTRY(const float* x, float* y, int64_t rows, int64_t n) {
  Call c = {x, y, nullptr, rows, n, (n + 31) / 16 * 16, kw_threads()};
  if (KW_P_KEEP) {
    c.wait = static_cast<float*>(kw_workspace(static_cast<size_t>(c.tasks * KW_P_R * c.wait_stride) * 4));
    if (c.wait == nullptr)
      return 1;
  }
  kw_parallel_for(c.tasks, some_rows, &c);
  return 0;
}

} // namespace KW_NAMESPACE
