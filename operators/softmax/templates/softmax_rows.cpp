// SPDX-License-Identifier: Apache-2.0
// Row softmax in three sweeps over a row that stays in cache: maximum, exponentials and their sum,
// scaling. Vectors of 64 or 32 bytes, tails by mask.
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

constexpr int U = KW_P_U;
constexpr float LOWEST = -__builtin_huge_valf();

/// prefetchw: the pinned -march has no flag for it, so the built-in would fetch for reading.
static inline void own(float* p) { __asm__ volatile("prefetchw %0" : : "m"(*p)); }

static inline vec splat(float x) { return x - vec{}; }
static inline vec load(const float* p) { return *reinterpret_cast<const vecu*>(p); }
#ifdef __AVX512F__
constexpr lanes LANES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr float LEAST = -105.0f; ///< e^LEAST is below the least subnormal

static inline unsigned short first(int64_t count) {
  return static_cast<unsigned short>((1u << count) - 1);
}
static inline vec load_some(const float* p, int64_t count, float rest) {
  return __builtin_ia32_loadups512_mask(p, splat(rest), first(count));
}
static inline void store_some(float* p, int64_t count, vec x) {
  __builtin_ia32_storeups512_mask(p, x, first(count));
}
static inline void stream(float* p, vec x) { __builtin_ia32_movntps512(p, x); }
static inline vec larger(vec a, vec b) {
  return __builtin_ia32_maxps512_mask(a, b, a, 0xffff, 4);
}
static inline vec nearest(vec x) { return __builtin_ia32_rndscaleps_mask(x, 8, x, 0xffff, 4); }
static inline vec fraction(vec t) { // t - floor(t)
  return __builtin_ia32_reduceps512_mask_round(t, 9, t, 0xffff, 4);
}
static inline vec whole_part(vec t) { return t; } // scaled() rounds down
static inline vec scaled(vec p, vec n) { // p * 2^floor(n)
  return __builtin_ia32_scalefps512_mask(p, n, p, 0xffff, 4);
}
static inline v8 halved(vec x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
         __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
}
#else
constexpr lanes LANES = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr float LEAST = -87.9f; ///< e^LEAST is below 2^-126, and its exponent becomes -127

static inline lanes first(int64_t count) { return LANES < static_cast<int>(count); }
static inline vec load_some(const float* p, int64_t count, float rest) {
  const lanes some = first(count);
  return some ? __builtin_ia32_maskloadps256(reinterpret_cast<const vec*>(p), some) : splat(rest);
}
static inline void store_some(float* p, int64_t count, vec x) {
  __builtin_ia32_maskstoreps256(reinterpret_cast<vec*>(p), first(count), x);
}
static inline void stream(float* p, vec x) { __builtin_ia32_movntps256(p, x); }
static inline vec larger(vec a, vec b) { return __builtin_ia32_maxps256(a, b); }
static inline vec nearest(vec x) { return __builtin_ia32_roundps256(x, 8); }
static inline vec whole_part(vec t) { return __builtin_ia32_roundps256(t, 9); }
static inline vec fraction(vec t) { return t - whole_part(t); }
/// p * 2^n for whole n from -126 to 127, 0 for n = -127. 1.5 * 2^23 + 127 + n has n + 127 in its low bits.
static inline vec scaled(vec p, vec n) { return p * vec(lanes(n + 12583039.0f) << 23); }
static inline v8 halved(vec x) { return x; }
#endif

static inline vec exp_of(vec x, vec max) {
  const vec d = x - max;
#if KW_P_EXP == KW_P_EXP_floor
  const vec t = (W == 16 ? d : larger(splat(LEAST), d)) * 1.44269504f + 0.5f;
  const vec f = fraction(t);
#if KW_P_DEGREE == 5
  vec p = f * 0.00132764725f + 0.00635642326f;
  p = p * f + 0.039475169f;
  p = p * f + 0.169814244f;
  p = p * f + 0.490133226f;
  p = p * f + 0.707106709f; // 2^(f - 1/2)
#else
  vec p = f * 0.000153458124f + 0.000879618747f;
  p = p * f + 0.00684397388f;
  p = p * f + 0.0392326489f;
  p = p * f + 0.169868141f;
  p = p * f + 0.490128934f;
  p = p * f + 0.707106769f;
#endif
  return scaled(p, whole_part(t));
#else
  const vec c = larger(splat(LEAST), d); // NaN passes
  const vec n = nearest(c * 1.44269504f);
  vec r = c - n * 0.693145752f; // exact: 16 bits
  r = r - n * 1.42860677e-6f;
#if KW_P_DEGREE == 5
  vec p = r * 0.00829758402f + 0.0419158749f;
  p = p * r + 0.166675776f;
  p = p * r + 0.499988914f;
  p = p * r + 0.999999702f;
  p = p * r + 1.00000012f;
#else
  vec p = r * 0.00138367421f + 0.00837489869f;
  p = p * r + 0.0416682325f;
  p = p * r + 0.166664198f;
  p = p * r + 0.499999911f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
#endif
  return scaled(p, n);
#endif
}

static inline float sum(vec x) {
  const v8 a = halved(x);
  v4 b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
  b += __builtin_shufflevector(b, b, 2, 3, 0, 1);
  return b[0] + b[1];
}
/// Groups of BY lanes change places with their neighbours.
template <int BY> static inline vec swapped(vec x) { return __builtin_shuffle(x, LANES ^ BY); }
static inline vec largest(vec x) {
  if constexpr (W == 16)
    x = larger(x, swapped<8>(x));
  x = larger(x, swapped<4>(x));
  x = larger(x, swapped<2>(x));
  return larger(x, swapped<1>(x));
}

/// R rows x[r], results y[r]; e[r] is where exponentials wait for their sum.
template <int R>
static inline void rows_at_once(const float* x, float* y, float* e, int64_t x_stride,
                                int64_t e_stride, int64_t n) {
  const int64_t whole = n / W * W, rest = n - whole;
  vec max[R][U];
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
        if (W * u % 16 == 0) // once per line
          __builtin_prefetch(x + r * x_stride + i + W * (u + KW_P_PF));
#endif
#if KW_P_PFO == 1
        if (W * u % 16 == 0)
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

  vec total[R][U] = {};
  for (i = 0; i + W * U <= n; i += W * U)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int u = 0; u < U; ++u) {
        const vec v = exp_of(load(x + r * x_stride + i + W * u), max[r][0]);
#if KW_P_PFO > 1
        if (W * u % 16 == 0)
          own(y + r * x_stride + i + W * (u + KW_P_PFO));
#endif
        *reinterpret_cast<vecu*>(e + r * e_stride + i + W * u) = v;
        total[r][u] += v;
      }
  for (; i < whole; i += W)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const vec v = exp_of(load(x + r * x_stride + i), max[r][0]);
      *reinterpret_cast<vecu*>(e + r * e_stride + i) = v;
      total[r][0] += v;
    }
  vec scale[R], last[R] = {};
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
        stream(out + i, load(e + r * e_stride + i) * scale[r]);
    } else
#endif
#pragma GCC unroll 4
      for (i = 0; i < whole; i += W)
        *reinterpret_cast<vecu*>(out + i) = load(e + r * e_stride + i) * scale[r];
    if (rest)
      store_some(out + whole, rest, last[r] * scale[r]);
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
