// SPDX-License-Identifier: Apache-2.0
// output = (hidden + residual) / sqrt(mean of its square + eps) * weight, bf16 in and out.
// A vector of 32 or 16 bf16 is split into its even and odd elements by shift and mask: widening costs
// one operation each and no shuffle. Vectors of 64 or 32 bytes.
//
//   ROUND integer: to bf16 by integer arithmetic, convert: by vcvtne2ps2bf16 (AVX-512; subnormals become 0)
//   KEEP  1: the sum of the first sweep waits in the workspace as fp32, 0: it is formed again
//   U     vectors of bf16 per step with sums of their own
//   R     rows in flight
//   PF    vectors ahead that the first sweep fetches of its inputs, 0 = none
//   PFR   cache level to which the last sweep fetches the next rows: 1, 2, or 0 = not
//   PFO   vectors ahead that the first sweep takes the output for writing, 0 = none
//   NT    1: non-temporal stores
#include "kernwright.h"

namespace KW_NAMESPACE {

#ifdef __AVX512F__
constexpr int64_t W = 32; ///< bf16 in a vector
#else
constexpr int64_t W = 16;
#endif
typedef float v4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));
typedef float vec __attribute__((vector_size(2 * W)));
typedef unsigned words __attribute__((vector_size(2 * W)));
typedef unsigned wordsu __attribute__((vector_size(2 * W), aligned(2), may_alias));
typedef short shorts __attribute__((vector_size(2 * W)));
typedef long long quads __attribute__((vector_size(2 * W)));

constexpr int64_t H = KW_AXIS_hidden_size;
constexpr int U = KW_P_U;
constexpr float EPS = KW_AXIS_hidden_size == 7168 ? 1e-6f : 1e-5f; // as the models that use these widths
static_assert(H % W == 0, "rows are whole vectors");
constexpr int64_t STEPS = H / (W * U) * (W * U); ///< done U vectors at a time

/// prefetchw: the pinned -march has no flag for it, so the built-in would fetch for reading.
static inline void own(uint16_t* p) { __asm__ volatile("prefetchw %0" : : "m"(*p)); }
static inline vec splat(float x) { return x - vec{}; }
static inline words load(const uint16_t* p) { return *reinterpret_cast<const wordsu*>(p); }
static inline vec even(words x) { return vec(x << 16); }
static inline vec odd(words x) { return vec(x & 0xffff0000u); }
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline words rounded(vec x) { return words(x) + 0x7fffu + ((words(x) >> 16) & 1u); }
static inline words join(vec e, vec o) {
#if KW_P_ROUND == KW_P_ROUND_convert && defined __AVX512BF16__
  const shorts halves = shorts(__builtin_ia32_cvtne2ps2bf16_v32hi(o, e)); // e in front
  return words(__builtin_shuffle(
      halves, shorts{0, 16, 1, 17, 2, 18, 3, 19, 4,  20, 5,  21, 6,  22, 7,  23,
                   8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31}));
#else
  return (rounded(e) >> 16) | (rounded(o) & 0xffff0000u);
#endif
}
#ifdef __AVX512F__
[[gnu::always_inline]] static inline void stream(uint16_t* p, words x) {
  __builtin_ia32_movntdq512(reinterpret_cast<quads*>(p), quads(x));
}
static inline v8 halved(vec x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
         __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
}
#else
[[gnu::always_inline]] static inline void stream(uint16_t* p, words x) {
  __builtin_ia32_movntdq256(reinterpret_cast<quads*>(p), quads(x));
}
static inline v8 halved(vec x) { return x; }
#endif
static inline float sum(vec x) {
  const v8 a = halved(x);
  v4 b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
  b += __builtin_shufflevector(b, b, 2, 3, 0, 1);
  return b[0] + b[1];
}

/// Calls step(r, u, i) for each vector at i of each of R rows, u = its accumulator.
template <int R, class Step>
static inline void sweep(const Step& step) {
  for (int64_t i = 0; i < STEPS; i += W * U)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int u = 0; u < U; ++u)
        step(r, u, i + W * u);
  if constexpr (STEPS < H)
    for (int64_t i = STEPS; i < H; i += W)
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
        step(r, 0, i);
}

template <int R>
static inline void rows_at_once(const uint16_t* x, const uint16_t* residual, const uint16_t* weight,
                                uint16_t* y, [[maybe_unused]] float* wait) {
  vec square[R][U][2] = {};
  sweep<R>([&](int r, int u, int64_t i) __attribute__((always_inline)) {
    const words a = load(x + r * H + i), b = load(residual + r * H + i);
    const vec e = even(a) + even(b), o = odd(a) + odd(b);
    square[r][u][0] += e * e;
    square[r][u][1] += o * o;
#if KW_P_KEEP
    *reinterpret_cast<vec*>(wait + r * H + i) = e;
    *reinterpret_cast<vec*>(wait + r * H + i + W / 2) = o;
#endif
#if KW_P_PF
    if (W * u % 32 == 0) { // once per line
      __builtin_prefetch(x + r * H + i + W * KW_P_PF);
      __builtin_prefetch(residual + r * H + i + W * KW_P_PF);
    }
#endif
#if KW_P_PFO
    if (W * u % 32 == 0)
      own(y + r * H + i + W * KW_P_PFO);
#endif
  });
  vec scale[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    vec all = square[r][0][0] + square[r][0][1];
#pragma GCC unroll 8
    for (int u = 1; u < U; ++u)
      all += square[r][u][0] + square[r][u][1];
    scale[r] = splat(1.0f / __builtin_sqrtf(sum(all) * (1.0f / H) + EPS));
  }
  sweep<R>([&](int r, [[maybe_unused]] int u, int64_t i) __attribute__((always_inline)) {
#if KW_P_KEEP
    const vec e = *reinterpret_cast<const vec*>(wait + r * H + i);
    const vec o = *reinterpret_cast<const vec*>(wait + r * H + i + W / 2);
#else
    const words a = load(x + r * H + i), b = load(residual + r * H + i);
    const vec e = even(a) + even(b), o = odd(a) + odd(b);
#endif
#if KW_P_PFR
    if (W * u % 32 == 0) {
      __builtin_prefetch(x + (r + R) * H + i, 0, 4 - KW_P_PFR);
      __builtin_prefetch(residual + (r + R) * H + i, 0, 4 - KW_P_PFR);
    }
#endif
    const words w = load(weight + i);
    const words out = join(e * scale[r] * even(w), o * scale[r] * odd(w));
    uint16_t* to = y + r * H + i;
#if KW_P_NT
    if ((reinterpret_cast<uintptr_t>(y) & 63) == 0)
      stream(to, out);
    else
#endif
      *reinterpret_cast<wordsu*>(to) = out;
  });
}

struct Call {
  const uint16_t *x, *residual, *weight;
  uint16_t* y;
  float* wait;
  int64_t rows, tasks;
};

static void some_rows(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  constexpr int R = KW_P_R;
  const int64_t end = c.rows * (task + 1) / c.tasks;
  float* wait = KW_P_KEEP ? c.wait + task * R * H : nullptr;
  int64_t i = c.rows * task / c.tasks;
  for (; i + R <= end; i += R)
    rows_at_once<R>(c.x + i * H, c.residual + i * H, c.weight, c.y + i * H, wait);
  if constexpr (R > 1)
    for (; i < end; ++i)
      rows_at_once<1>(c.x + i * H, c.residual + i * H, c.weight, c.y + i * H, wait);
#if KW_P_NT
  __builtin_ia32_sfence();
#endif
}

static int KW_ENTRY(const uint16_t* x, const uint16_t* residual, const uint16_t* weight, uint16_t* y,
                    int64_t rows) {
  Call c = {x, residual, weight, y, nullptr, rows, kw_threads()};
  if (KW_P_KEEP) {
    c.wait = static_cast<float*>(kw_workspace(static_cast<size_t>(c.tasks * KW_P_R * H) * 4));
    if (c.wait == nullptr)
      return 1;
  }
  kw_parallel_for(c.tasks, some_rows, &c);
  return 0;
}

} // namespace KW_NAMESPACE
