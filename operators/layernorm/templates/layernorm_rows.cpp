// SPDX-License-Identifier: Apache-2.0
// Layer normalisation of rows that stay in cache: y = (x - mean) / sqrt(var + 1e-5) * weight + bias.
// Vectors of 64 or 32 bytes.
//
//   METHOD  twice:   mean first, then squared deviations, then the result: three sweeps
//           shifted: sums of (x - s) and (x - s)^2 in one sweep, s = mean of four vectors spread over
//                    the row, so that a large common offset costs no digits: two sweeps
//   U       vectors per step with sums of their own
//   R       rows in flight
//   PF      vectors ahead that the first sweep fetches of x, 0 = none
//   PFR    cache level to which the last sweep fetches the next rows of x: 1, 2, or 0 = not
//   PFO     vectors ahead that the last but one sweep takes y for writing, 0 = none
//   NT      1: non-temporal stores
#include "kernwright.h"

namespace KW_NAMESPACE {

#ifdef __AVX512F__
constexpr int64_t W = 16;
#else
constexpr int64_t W = 8;
#endif
typedef float v4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));
typedef float vec __attribute__((vector_size(4 * W)));
typedef float vecu __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef int lanes __attribute__((vector_size(4 * W)));

constexpr int64_t H = KW_AXIS_hidden_size, WHOLE = H / W * W;
constexpr int U = KW_P_U, REST = H % W;
constexpr int64_t STEPS = H / (W * U) * (W * U); ///< done U vectors at a time
constexpr float EPS = 1e-5f;

/// prefetchw: the pinned -march has no flag for it, so the built-in would fetch for reading.
static inline void own(float* p) { __asm__ volatile("prefetchw %0" : : "m"(*p)); }
static inline vec splat(float x) { return x - vec{}; }
static inline vec load(const float* p) { return *reinterpret_cast<const vecu*>(p); }
#ifdef __AVX512F__
constexpr unsigned short FIRST = (1u << REST) - 1;
static inline vec load_rest(const float* p, vec rest) {
  return __builtin_ia32_loadups512_mask(p, rest, FIRST);
}
static inline void store_rest(float* p, vec x) { __builtin_ia32_storeups512_mask(p, x, FIRST); }
[[gnu::always_inline]] static inline void stream(float* p, vec x) { __builtin_ia32_movntps512(p, x); }
static inline v8 halved(vec x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
         __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
}
#else
constexpr lanes FIRST = lanes{0, 1, 2, 3, 4, 5, 6, 7} < REST;
static inline vec load_rest(const float* p, vec rest) {
  return FIRST ? __builtin_ia32_maskloadps256(reinterpret_cast<const vec*>(p), FIRST) : rest;
}
static inline void store_rest(float* p, vec x) {
  __builtin_ia32_maskstoreps256(reinterpret_cast<vec*>(p), FIRST, x);
}
[[gnu::always_inline]] static inline void stream(float* p, vec x) { __builtin_ia32_movntps256(p, x); }
static inline v8 halved(vec x) { return x; }
#endif
static inline float sum(vec x) {
  const v8 a = halved(x);
  v4 b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
  b += __builtin_shufflevector(b, b, 2, 3, 0, 1);
  return b[0] + b[1];
}

/// Calls step(r, u, i) for each whole vector at i of each of R rows, u = its accumulator.
template <int R, class Step>
static inline void sweep(const Step& step) {
  for (int64_t i = 0; i < STEPS; i += W * U)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int u = 0; u < U; ++u)
        step(r, u, i + W * u);
  if constexpr (STEPS < WHOLE)
    for (int64_t i = STEPS; i < WHOLE; i += W)
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
        step(r, 0, i);
}

template <int R>
static inline void rows_at_once(const float* x, const float* weight, const float* bias, float* y) {
  vec total[R][U] = {}, square[R][U] = {}, shift[R];
#if KW_P_METHOD == KW_P_METHOD_twice
  sweep<R>([&](int r, int u, int64_t i) __attribute__((always_inline)) {
    total[r][u] += load(x + r * H + i);
#if KW_P_PF
    if (W * u % 16 == 0) // once per line
      __builtin_prefetch(x + r * H + i + W * KW_P_PF);
#endif
  });
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    if constexpr (REST != 0)
      total[r][0] += load_rest(x + r * H + WHOLE, vec{});
#pragma GCC unroll 8
    for (int u = 1; u < U; ++u)
      total[r][0] += total[r][u];
    shift[r] = splat(sum(total[r][0]) * (1.0f / H));
#pragma GCC unroll 8
    for (int u = 0; u < U; ++u)
      total[r][u] = vec{};
  }
#else
  constexpr int64_t part = H / W / 4 * W;
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    const float* row = x + r * H;
    if constexpr (part == 0)
      shift[r] = splat(row[0]);
    else
      shift[r] = splat(sum(load(row) * 0.25f + load(row + part) * 0.25f +
                           load(row + 2 * part) * 0.25f + load(row + 3 * part) * 0.25f) *
                       (1.0f / W));
  }
#endif
  // What is left of the mean after the shift is summed as well: it corrects both.
  sweep<R>([&](int r, int u, int64_t i) __attribute__((always_inline)) {
    const vec d = load(x + r * H + i) - shift[r];
    total[r][u] += d;
    square[r][u] += d * d;
#if KW_P_PF && KW_P_METHOD == KW_P_METHOD_shifted
    if (W * u % 16 == 0)
      __builtin_prefetch(x + r * H + i + W * KW_P_PF);
#endif
#if KW_P_PFO
    if (W * u % 16 == 0)
      own(y + r * H + i + W * KW_P_PFO);
#endif
  });
  vec scale[R], mean[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    if constexpr (REST != 0) {
      const vec d = load_rest(x + r * H + WHOLE, shift[r]) - shift[r];
      total[r][0] += d;
      square[r][0] += d * d;
    }
#pragma GCC unroll 8
    for (int u = 1; u < U; ++u) {
      total[r][0] += total[r][u];
      square[r][0] += square[r][u];
    }
    const float left = sum(total[r][0]) * (1.0f / H);
    const float variance = sum(square[r][0]) * (1.0f / H) - left * left;
    scale[r] = splat(1.0f / __builtin_sqrtf((variance > 0 ? variance : 0) + EPS));
    mean[r] = splat(left);
  }
  sweep<R>([&](int r, [[maybe_unused]] int u, int64_t i) __attribute__((always_inline)) {
    // (x - shift) is nearly exact where x + (-shift - left) would round at the size of the offset
    const vec d = load(x + r * H + i) - shift[r] - mean[r];
#if KW_P_PFR
    if (W * u % 16 == 0)
      __builtin_prefetch(x + (r + R) * H + i, 0, 4 - KW_P_PFR);
#endif
    const vec out = d * (load(weight + i) * scale[r]) + load(bias + i);
    float* to = y + r * H + i;
#if KW_P_NT
    if (H % W == 0 && (reinterpret_cast<uintptr_t>(y) & 63) == 0)
      stream(to, out);
    else
#endif
      *reinterpret_cast<vecu*>(to) = out;
  });
  if constexpr (REST != 0)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
      store_rest(y + r * H + WHOLE,
                 (load_rest(x + r * H + WHOLE, vec{}) - shift[r] - mean[r]) *
                         (load_rest(weight + WHOLE, vec{}) * scale[r]) +
                     load_rest(bias + WHOLE, vec{}));
}

struct Call {
  const float *x, *weight, *bias;
  float* y;
  int64_t rows, tasks;
};

static void some_rows(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  constexpr int R = KW_P_R;
  const int64_t end = c.rows * (task + 1) / c.tasks;
  int64_t i = c.rows * task / c.tasks;
  for (; i + R <= end; i += R)
    rows_at_once<R>(c.x + i * H, c.weight, c.bias, c.y + i * H);
  if constexpr (R > 1)
    for (; i < end; ++i)
      rows_at_once<1>(c.x + i * H, c.weight, c.bias, c.y + i * H);
#if KW_P_NT
  __builtin_ia32_sfence();
#endif
}

static int KW_ENTRY(const float* x, const float* weight, const float* bias, float* y,
                    int64_t rows) {
  Call c = {x, weight, bias, y, rows, kw_threads()};
  kw_parallel_for(c.tasks, some_rows, &c);
  return 0;
}

} // namespace KW_NAMESPACE
