// SPDX-License-Identifier: Apache-2.0
// The sparse-attention indexer with heads in the lanes of vectors of 64 or 32 bytes. Queries are widened
// and turned over once per row, so that an element of a token, spread over all lanes, meets W heads at a
// time:
//
//   d[t][W heads] += k[t][i] * q[i][W heads]
//
// and no sum over lanes is needed before relu and weights are through. The topk-th score is found by
// histograms of its bits, from the highest down; each looks only at what the one before left open.
//
//   T      tokens in registers at a time
//   HV     vectors of heads in registers at a time
//   DECODE table: each byte is looked up; bits: exponent and fraction are shifted to where a float has
//          them, 120 too low
//   BITS   of a score that one histogram counts
//   AHEAD  tokens whose bytes are asked for in advance; 0: none
#include "kernwright.h"

namespace KW_NAMESPACE {

#ifdef __AVX512F__
constexpr int W = 16;
#else
constexpr int W = 8;
#endif
typedef float vec __attribute__((vector_size(4 * W)));
typedef float vec_u __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef uint32_t words __attribute__((vector_size(4 * W)));
typedef uint8_t bytes __attribute__((vector_size(W)));
typedef uint8_t bytes_u __attribute__((vector_size(W), aligned(1), may_alias));
typedef float v8 __attribute__((vector_size(32)));
typedef float v4 __attribute__((vector_size(16)));

constexpr int64_t HEADS = KW_AXIS_num_index_heads, D = KW_AXIS_index_head_dim, PAGE = KW_AXIS_page_size,
                  K = KW_AXIS_topk, PAGE_BYTES = PAGE * KW_AXIS_head_dim_with_scale;
constexpr int T = KW_P_T, HV = KW_P_HV, BITS = KW_P_BITS;
constexpr int64_t AHEAD = KW_P_AHEAD;
static_assert(D % W == 0 && HEADS % (W * HV) == 0 && PAGE % T == 0 && KW_AXIS_kv_cache_num_heads == 1);

static inline vec load(const float* p) { return *reinterpret_cast<const vec_u*>(p); }
static inline void store(float* p, vec x) { *reinterpret_cast<vec_u*>(p) = x; }
static inline float total(vec x) {
#ifdef __AVX512F__
  const v8 half = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                  __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  const v8 half = x;
#endif
  const v4 quarter = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
                     __builtin_shufflevector(half, half, 4, 5, 6, 7);
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

/// W float8_e4m3fn. Subnormal numbers are so here as well until the product.
static inline vec widen(const uint8_t* p) {
  const words code = __builtin_convertvector(bytes(*reinterpret_cast<const bytes_u*>(p)), words);
  return vec((code & 0x7fu) << 20 | (code & 0x80u) << 24) * 0x1p120f;
}
static inline float widen1(uint32_t code) {
  return __builtin_bit_cast(float, (code & 0x7fu) << 20 | (code & 0x80u) << 24) * 0x1p120f;
}

/// Ascends with the score; both zeros are one.
static inline uint32_t key_of(float score) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, score + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

struct Row {
  vec q[D][HEADS / W]; ///< turned over
  float value[256];
  int32_t counts[1 << BITS];
};

struct Call {
  const uint8_t *q, *cache;
  const float* weights;
  const int32_t *lengths, *tables;
  int32_t* out;
  int64_t width;
  Row* row;
  uint32_t* keys; ///< of the tokens of a row
  int32_t* open;  ///< tokens that a histogram left open
};

static inline void turn_over(const uint8_t* q, Row& row) {
  float* to = reinterpret_cast<float*>(row.q);
  for (int64_t h = 0; h < HEADS; ++h)
    for (int64_t i = 0; i < D; ++i)
      to[i * HEADS + h] = row.value[q[h * D + i]];
}

/// Keys of T tokens from `token` of a page on.
static inline void score(const Row& row, const float* weights, const uint8_t* page, int64_t token, uint32_t* keys) {
  float k[T][D];
  for (int t = 0; t < T; ++t) {
    const uint8_t* from = page + (token + t) * D;
#if KW_P_DECODE == KW_P_DECODE_table
    for (int64_t i = 0; i < D; ++i)
      k[t][i] = row.value[from[i]];
#else
    for (int64_t i = 0; i < D; i += W)
      store(&k[t][i], widen(from + i));
#endif
  }
  vec sum[T] = {};
  for (int64_t h = 0; h < HEADS / W; h += HV) {
    vec d[T][HV] = {};
    for (int64_t i = 0; i < D; ++i)
#pragma GCC unroll 8
      for (int t = 0; t < T; ++t)
#pragma GCC unroll 4
        for (int v = 0; v < HV; ++v)
          d[t][v] += row.q[i][h + v] * k[t][i];
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t)
#pragma GCC unroll 4
      for (int v = 0; v < HV; ++v)
        sum[t] += (d[t][v] > 0.0f ? d[t][v] : vec{}) * load(weights + W * (h + v));
  }
  for (int t = 0; t < T; ++t) {
    float scale;
    __builtin_memcpy(&scale, page + PAGE * D + (token + t) * 4, sizeof scale);
    keys[t] = key_of(total(sum[t]) * scale);
  }
}

static inline int32_t id_of(const int32_t* table, int64_t t) {
  return static_cast<int32_t>(table[t / PAGE] * PAGE + t % PAGE);
}

/// The K tokens of the greatest keys, n > K of them.
static inline void select(const Call& c, const int32_t* table, int64_t n, int32_t* ids) {
  constexpr uint32_t bins = 1u << BITS;
  int32_t* open = c.open;
  int32_t* counts = c.row->counts;
  int64_t left = n, taken = 0;
  for (int64_t t = 0; t < n; ++t)
    open[t] = static_cast<int32_t>(t);
  for (int shift = 32; shift > 0 && taken < K && left > K - taken;) {
    const int width = shift < BITS ? shift : BITS;
    shift -= width;
    const uint32_t mask = (1u << width) - 1;
    for (uint32_t i = 0; i < bins; ++i)
      counts[i] = 0;
    for (int64_t j = 0; j < left; ++j)
      ++counts[c.keys[open[j]] >> shift & mask];
    uint32_t bin = mask;
    for (int64_t above = taken; above + counts[bin] < K; --bin)
      above += counts[bin];
    int64_t kept = 0;
    for (int64_t j = 0; j < left; ++j) {
      const int32_t t = open[j];
      const uint32_t in = c.keys[t] >> shift & mask;
      if (in > bin)
        ids[taken++] = id_of(table, t);
      else if (in == bin)
        open[kept++] = t;
    }
    left = kept;
  }
  for (int64_t j = 0; taken < K; ++j) // as many as there is room for, or equal
    ids[taken++] = id_of(table, open[j]);
}

static inline void one_row(const Call& c, int64_t b) {
  const int32_t* table = c.tables + b * c.width;
  const float* weights = c.weights + b * HEADS;
  int32_t* ids = c.out + b * K;
  const int64_t n = c.lengths[b];
  if (n <= K) {
    for (int64_t t = 0; t < K; ++t)
      ids[t] = t < n ? id_of(table, t) : -1;
    return;
  }
  turn_over(c.q + b * HEADS * D, *c.row);
  for (int64_t first = 0; first < n; first += PAGE) {
    const uint8_t* page = c.cache + table[first / PAGE] * PAGE_BYTES;
    // Whole tiles: behind a sequence's end its last page has tokens that are not asked for.
    for (int64_t t = 0; t < PAGE && first + t < n; t += T) {
      if constexpr (AHEAD > 0)
        for (int64_t i = 0; i < T * D; i += 64)
          __builtin_prefetch(page + (t + AHEAD) * D + i);
      score(*c.row, weights, page, t, c.keys + first + t);
    }
  }
  select(c, table, n, ids);
}

static int KW_ENTRY(const uint8_t* q, const int8_t* cache, const float* weights, const int32_t* lengths,
                    const int32_t* tables, int32_t* out, int64_t batch, int64_t width, int64_t) {
  const size_t key_bytes = static_cast<size_t>(width * PAGE) * sizeof(uint32_t);
  char* work = static_cast<char*>(kw_workspace(sizeof(Row) + 2 * key_bytes));
  if (work == nullptr)
    return 1;
  Row* row = reinterpret_cast<Row*>(work);
  for (uint32_t code = 0; code < 256; ++code)
    row->value[code] = widen1(code);
  const Call c = {q, reinterpret_cast<const uint8_t*>(cache), weights, lengths, tables, out, width, row,
                  reinterpret_cast<uint32_t*>(work + sizeof(Row)),
                  reinterpret_cast<int32_t*>(work + sizeof(Row) + key_bytes)};
  for (int64_t b = 0; b < batch; ++b)
    one_row(c, b);
  return 0;
}

} // namespace KW_NAMESPACE
