// SPDX-License-Identifier: Apache-2.0
// Rotary embedding, NeoX pairing, one loop over half a head that the compiler vectorises.
//
//   BLOCK  elements of half a head per inner loop
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int64_t HQ = KW_AXIS_num_qo_heads, HK = KW_AXIS_num_kv_heads, D = KW_AXIS_head_dim;
constexpr int64_t HALF = D / 2, BLOCK = KW_P_BLOCK;

static inline float widen(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline uint16_t narrow(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

struct Call {
  const uint16_t *q, *k;
  const float* cache;
  const int32_t* positions;
  uint16_t *q_out, *k_out;
  int64_t tokens, tasks;
};

static inline void rotate(const uint16_t* x, uint16_t* y, const float* row, int64_t heads) {
  for (int64_t h = 0; h < heads; ++h, x += D, y += D)
    for (int64_t first = 0; first < HALF; first += BLOCK) {
      const int64_t last = first + BLOCK < HALF ? first + BLOCK : HALF;
#pragma GCC ivdep
      for (int64_t i = first; i < last; ++i) {
        const float a = widen(x[i]), b = widen(x[HALF + i]), cos = row[i], sin = row[HALF + i];
        y[i] = narrow(a * cos - b * sin);
        y[HALF + i] = narrow(b * cos + a * sin);
      }
    }
}

static void some_tokens(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t end = c.tokens * (task + 1) / c.tasks;
  for (int64_t t = c.tokens * task / c.tasks; t < end; ++t) {
    const float* row = c.cache + c.positions[t] * D;
    rotate(c.q + t * HQ * D, c.q_out + t * HQ * D, row, HQ);
    rotate(c.k + t * HK * D, c.k_out + t * HK * D, row, HK);
  }
}

static int KW_ENTRY(const uint16_t* q, const uint16_t* k, const float* cache,
                    const int32_t* positions, uint16_t* q_out, uint16_t* k_out, int64_t tokens) {
  Call c = {q, k, cache, positions, q_out, k_out, tokens, kw_threads()};
  kw_parallel_for(c.tasks, some_tokens, &c);
  return 0;
}

} // namespace KW_NAMESPACE
