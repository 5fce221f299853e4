// SPDX-License-Identifier: Apache-2.0
// Rotary embedding, NeoX pairing: element j of the first half of a head with element j of the second.
// A vector of 32 or 16 bf16 is split into its even and odd elements by shift and mask; the cosines and
// sines of a token are split the same way once, and all its heads use them from registers (or, with
// 16 registers, the first-level cache). Vectors of 64 or 32 bytes.
//
//   U    heads per step
//   PF   heads ahead that the input is fetched, 0 = none
//   PFO  heads ahead that the output is taken for writing, 0 = none
//   NT   1: non-temporal stores
#include "kernwright.h"

namespace KW_NAMESPACE {

#ifdef __AVX512F__
constexpr int W = 16;
#else
constexpr int W = 8;
#endif
typedef float vec __attribute__((vector_size(4 * W)));
typedef float vecu __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef int lanes __attribute__((vector_size(4 * W)));
typedef unsigned words __attribute__((vector_size(4 * W)));
typedef unsigned wordsu __attribute__((vector_size(4 * W), aligned(2), may_alias));

constexpr int64_t HQ = KW_AXIS_num_qo_heads, HK = KW_AXIS_num_kv_heads, D = KW_AXIS_head_dim;
constexpr int V = D / (4 * W); ///< vectors of bf16 in half a head
constexpr int U = KW_P_U;
static_assert(D % (4 * W) == 0, "half a head is whole vectors");

/// prefetchw: the pinned -march has no flag for it, so the built-in would fetch for reading.
static inline void own(uint16_t* p) { __asm__ volatile("prefetchw %0" : : "m"(*p)); }
static inline words load(const uint16_t* p) { return *reinterpret_cast<const wordsu*>(p); }
static inline vec even(words x) { return vec(x << 16); }
static inline vec odd(words x) { return vec(x & 0xffff0000u); }
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline words rounded(vec x) { return words(x) + 0x7fffu + ((words(x) >> 16) & 1u); }
#ifdef __AVX512F__
constexpr lanes LANES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static inline void stream(float* p, vec x) { __builtin_ia32_movntps512(p, x); }
#else
constexpr lanes LANES = {0, 1, 2, 3, 4, 5, 6, 7};
static inline void stream(float* p, vec x) { __builtin_ia32_movntps256(p, x); }
#endif
static inline void store(uint16_t* to, vec e, vec o) {
  const words y = (rounded(e) >> 16) | (rounded(o) & 0xffff0000u);
#if KW_P_NT
  stream(reinterpret_cast<float*>(to), vec(y));
#else
  *reinterpret_cast<wordsu*>(to) = y;
#endif
}

struct Angles {
  vec cos_even[V], cos_odd[V], sin_even[V], sin_odd[V];
};

static inline void split(const float* p, vec& e, vec& o) {
  const vec a = *reinterpret_cast<const vecu*>(p), b = *reinterpret_cast<const vecu*>(p + W);
  e = __builtin_shuffle(a, b, 2 * LANES);
  o = __builtin_shuffle(a, b, 2 * LANES + 1);
}

static inline void rotate(const uint16_t* x, uint16_t* y, const Angles& a) {
#pragma GCC unroll 4
  for (int i = 0; i < V; ++i) {
    const words first = load(x + 2 * W * i), second = load(x + D / 2 + 2 * W * i);
    const vec fe = even(first), fo = odd(first), se = even(second), so = odd(second);
    store(y + 2 * W * i, fe * a.cos_even[i] - se * a.sin_even[i],
          fo * a.cos_odd[i] - so * a.sin_odd[i]);
    store(y + D / 2 + 2 * W * i, se * a.cos_even[i] + fe * a.sin_even[i],
          so * a.cos_odd[i] + fo * a.sin_odd[i]);
  }
#if KW_P_PF
  for (int64_t i = 0; i < D; i += 32)
    __builtin_prefetch(x + KW_P_PF * D + i);
#endif
#if KW_P_PFO && !KW_P_NT
  for (int64_t i = 0; i < D; i += 32)
    own(y + KW_P_PFO * D + i);
#endif
}

template <int64_t HEADS>
static inline void heads(const uint16_t* x, uint16_t* y, const Angles& a) {
  int64_t h = 0;
  for (; h + U <= HEADS; h += U)
#pragma GCC unroll 4
    for (int u = 0; u < U; ++u)
      rotate(x + (h + u) * D, y + (h + u) * D, a);
  if constexpr (HEADS % U != 0)
    for (; h < HEADS; ++h)
      rotate(x + h * D, y + h * D, a);
}

struct Call {
  const uint16_t *q, *k;
  const float* cache;
  const int32_t* positions;
  uint16_t *q_out, *k_out;
  int64_t tokens, tasks;
};

static void some_tokens(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t end = c.tokens * (task + 1) / c.tasks;
  for (int64_t t = c.tokens * task / c.tasks; t < end; ++t) {
    const float* row = c.cache + c.positions[t] * D;
    Angles a;
#pragma GCC unroll 4
    for (int i = 0; i < V; ++i) {
      split(row + 2 * W * i, a.cos_even[i], a.cos_odd[i]);
      split(row + D / 2 + 2 * W * i, a.sin_even[i], a.sin_odd[i]);
    }
    if (t + 1 < end)
      for (int64_t i = 0; i < D; i += 16)
        __builtin_prefetch(c.cache + c.positions[t + 1] * D + i);
    heads<HQ>(c.q + t * HQ * D, c.q_out + t * HQ * D, a);
    heads<HK>(c.k + t * HK * D, c.k_out + t * HK * D, a);
  }
#if KW_P_NT
  __builtin_ia32_sfence();
#endif
}

static int KW_ENTRY(const uint16_t* q, const uint16_t* k, const float* cache,
                    const int32_t* positions, uint16_t* q_out, uint16_t* k_out, int64_t tokens) {
#if KW_P_NT
  if (((reinterpret_cast<uintptr_t>(q_out) | reinterpret_cast<uintptr_t>(k_out)) & 63) != 0)
    return 1;
#endif
  Call c = {q, k, cache, positions, q_out, k_out, tokens, kw_threads()};
  kw_parallel_for(c.tasks, some_tokens, &c);
  return 0;
}

} // namespace KW_NAMESPACE
