// SPDX-License-Identifier: Apache-2.0
// Sparse attention as loops that the compiler vectorises: per token, a block of chosen entries is
// widened once and meets all heads while it lies in the cache; online softmax from block to block.
//
//   LANES  independent partial sums of each product
//   BS     entries in a block
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int64_t H = KW_AXIS_num_qo_heads, C = KW_AXIS_head_dim_ckv, P = KW_AXIS_head_dim_kpe,
                  D = C + P, TOPK = KW_AXIS_topk, BS = KW_P_BS;
constexpr int LANES = KW_P_LANES;
constexpr float NOTHING = -__builtin_huge_valf();
static_assert(D % LANES == 0, "rows are whole groups of lanes");

static inline float widen1(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline uint16_t narrow(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

static inline float dot(const float* x, const float* y) {
  float lanes[LANES] = {}, total = 0;
  for (int64_t i = 0; i < D; i += LANES)
    for (int l = 0; l < LANES; ++l)
      lanes[l] += x[i + l] * y[i + l];
  for (int l = 0; l < LANES; ++l)
    total += lanes[l];
  return total;
}

struct Call {
  const uint16_t *q_nope, *q_pe, *ckv, *kpe;
  const int32_t* indices;
  float scale;
  uint16_t* output;
  float* lse;
};

static inline void widen(const uint16_t* nope, const uint16_t* pe, float* out) {
  for (int64_t i = 0; i < C; ++i)
    out[i] = widen1(nope[i]);
  for (int64_t i = 0; i < P; ++i)
    out[C + i] = widen1(pe[i]);
}

static void one_token(void* context, int64_t t) {
  const Call& c = *static_cast<Call*>(context);
  float query[H][D], key[BS][D], sums[H][C] = {}, top[H], mass[H] = {};
  int32_t slot[TOPK];
  int64_t entries = 0;
  for (int64_t j = 0; j < TOPK; ++j)
    if (c.indices[t * TOPK + j] >= 0)
      slot[entries++] = c.indices[t * TOPK + j];
  for (int64_t h = 0; h < H; ++h) {
    widen(c.q_nope + (t * H + h) * C, c.q_pe + (t * H + h) * P, query[h]);
    top[h] = NOTHING;
  }
  for (int64_t first = 0; first < entries; first += BS) {
    const int64_t count = entries - first < BS ? entries - first : BS;
    for (int64_t s = 0; s < count; ++s)
      widen(c.ckv + slot[first + s] * C, c.kpe + slot[first + s] * P, key[s]);
    for (int64_t h = 0; h < H; ++h) {
      float weight[BS], best = top[h];
      for (int64_t s = 0; s < count; ++s) {
        weight[s] = c.scale * dot(query[h], key[s]);
        best = weight[s] > best ? weight[s] : best;
      }
      const float fades = first > 0 ? __builtin_expf(top[h] - best) : 0.0f;
      top[h] = best, mass[h] *= fades;
      for (int64_t i = 0; i < C; ++i)
        sums[h][i] *= fades;
      for (int64_t s = 0; s < count; ++s) {
        weight[s] = __builtin_expf(weight[s] - best);
        mass[h] += weight[s];
        for (int64_t i = 0; i < C; ++i)
          sums[h][i] += weight[s] * key[s][i];
      }
    }
  }
  for (int64_t h = 0; h < H; ++h) {
    const int64_t at = t * H + h;
    const float part = entries > 0 ? 1.0f / mass[h] : 0.0f;
    for (int64_t i = 0; i < C; ++i)
      c.output[at * C + i] = narrow(sums[h][i] * part);
    c.lse[at] = entries > 0 ? (top[h] + __builtin_logf(mass[h])) * 1.44269504f : NOTHING;
  }
}

static int KW_ENTRY(const uint16_t* q_nope, const uint16_t* q_pe, const uint16_t* ckv,
                    const uint16_t* kpe, const int32_t* indices, float scale, uint16_t* output,
                    float* lse, int64_t tokens, int64_t) {
  Call c = {q_nope, q_pe, ckv, kpe, indices, scale, output, lse};
  kw_parallel_for(tokens, one_token, &c);
  return 0;
}

} // namespace KW_NAMESPACE
