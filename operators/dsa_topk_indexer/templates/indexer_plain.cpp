// SPDX-License-Identifier: Apache-2.0
// The sparse-attention indexer as loops that the compiler vectorises. Queries are widened once per row;
// a token is scored against GROUP heads at a time. The topk-th score is found bit by bit: how many scores
// are at least this great?
//
//   LANES  independent partial sums of each product
//   GROUP  heads that meet a token together
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int64_t HEADS = KW_AXIS_num_index_heads, D = KW_AXIS_index_head_dim, PAGE = KW_AXIS_page_size,
                  K = KW_AXIS_topk, PAGE_BYTES = PAGE * KW_AXIS_head_dim_with_scale;
constexpr int LANES = KW_P_LANES, GROUP = KW_P_GROUP;
static_assert(D % LANES == 0 && HEADS % GROUP == 0 && KW_AXIS_kv_cache_num_heads == 1);

/// float8_e4m3fn: the exponent is put where that of a float is, 120 too low.
static inline float value_of(uint32_t code) {
  const uint32_t bits = (code & 0x7fu) << 20;
  return __builtin_bit_cast(float, bits) * (code & 0x80u ? -0x1p120f : 0x1p120f);
}

/// Ascends with the score; both zeros are one.
static inline uint32_t key_of(float score) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, score + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static inline void dots(const float* q, const float* k, float* d) {
  float lanes[GROUP][LANES] = {};
  for (int64_t i = 0; i < D; i += LANES)
    for (int g = 0; g < GROUP; ++g)
      for (int l = 0; l < LANES; ++l)
        lanes[g][l] += q[g * D + i + l] * k[i + l];
  for (int g = 0; g < GROUP; ++g) {
    float total = 0;
    for (int l = 0; l < LANES; ++l)
      total += lanes[g][l];
    d[g] = total;
  }
}

static inline float score(const float* q, const float* weights, const uint8_t* page, int64_t token, const float* value) {
  float k[D], total = 0, scale;
  for (int64_t i = 0; i < D; ++i)
    k[i] = value[page[token * D + i]];
  for (int64_t h = 0; h < HEADS; h += GROUP) {
    float d[GROUP];
    dots(q + h * D, k, d);
    for (int g = 0; g < GROUP; ++g)
      total += weights[h + g] * (d[g] > 0 ? d[g] : 0.0f);
  }
  __builtin_memcpy(&scale, page + PAGE * D + token * 4, sizeof scale);
  return total * scale;
}

/// The greatest number that K keys are not below.
static inline uint32_t kth(const uint32_t* keys, int64_t n) {
  uint32_t least = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const uint32_t trial = least | 1u << bit;
    int64_t count = 0;
    for (int64_t t = 0; t < n; ++t)
      count += keys[t] >= trial;
    if (count >= K)
      least = trial;
  }
  return least;
}

static inline int32_t id_of(const int32_t* table, int64_t t) {
  return static_cast<int32_t>(table[t / PAGE] * PAGE + t % PAGE);
}

static int KW_ENTRY(const uint8_t* q8, const int8_t* cache, const float* weights, const int32_t* lengths,
                    const int32_t* tables, int32_t* out, int64_t batch, int64_t width, int64_t) {
  float* q = static_cast<float*>(
      kw_workspace(static_cast<size_t>(HEADS * D + 256 + width * PAGE) * sizeof(float)));
  if (q == nullptr)
    return 1;
  float* value = q + HEADS * D;
  uint32_t* keys = reinterpret_cast<uint32_t*>(value + 256);
  for (uint32_t code = 0; code < 256; ++code)
    value[code] = value_of(code);
  for (int64_t b = 0; b < batch; ++b) {
    const int32_t* table = tables + b * width;
    int32_t* ids = out + b * K;
    const int64_t n = lengths[b];
    int64_t taken = 0;
    if (n > K) {
      for (int64_t i = 0; i < HEADS * D; ++i)
        q[i] = value[q8[b * HEADS * D + i]];
      for (int64_t t = 0; t < n; ++t)
        keys[t] = key_of(score(q, weights + b * HEADS,
                               reinterpret_cast<const uint8_t*>(cache) + table[t / PAGE] * PAGE_BYTES, t % PAGE,
                               value));
      const uint32_t least = kth(keys, n);
      for (int64_t t = 0; t < n; ++t)
        if (keys[t] > least)
          ids[taken++] = id_of(table, t);
      for (int64_t t = 0; t < n && taken < K; ++t)
        if (keys[t] == least)
          ids[taken++] = id_of(table, t);
    } else {
      for (; taken < n; ++taken)
        ids[taken] = id_of(table, taken);
    }
    for (; taken < K; ++taken)
      ids[taken] = -1;
  }
  return 0;
}

} // namespace KW_NAMESPACE
