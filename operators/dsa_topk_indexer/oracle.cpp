// SPDX-License-Identifier: Apache-2.0
// Scores of the DeepSeek sparse-attention indexer in fp64, for every token that a row can reach:
//
//   d_h = sum_i q_hi k_ti        z_t = c_t sum_h w_h max(d_h, 0)        (c_t: scale of the token)
//
// k and q are float8_e4m3fn; a product of two has 8 bits, and a sum of 128 lies between 2^-18 and
// 2^25, so that d_h is exact. A page holds the vectors of its tokens first, then their scales.
//
// Magnitudes, in units of u = 2^-24: fp32 rounds sums of at most A_h = sum_i |q_hi k_ti| (and, where
// k is multiplied by its scale first, every product), relu lets no error grow, and the sum over heads
// has terms of at most |w_h| A_h:
//
//   S_t = c_t sum_h |w_h| A_h    over the heads with d_h > -2^-16 A_h
//
// A head further below zero than that stays closed under any order of fp32 sums, and adds nothing.
// A floor of 2^-102 (times u: 2^-126) stands for subnormal results. Rows of no more than topk tokens
// take them all: their scores are not computed.
#include "kernwright.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t heads = KW_AXIS_num_index_heads, dim = KW_AXIS_index_head_dim, tokens = KW_AXIS_page_size,
                       topk = KW_AXIS_topk, page_bytes = tokens * KW_AXIS_head_dim_with_scale;
constexpr double floor_s = 0x1p-102, closed = -0x1p-16;
static_assert(KW_AXIS_kv_cache_num_heads == 1 && KW_AXIS_head_dim_with_scale == dim + 4);

using Double = double __attribute__((vector_size(64)));
using Float = float __attribute__((vector_size(64)));
constexpr std::int64_t together = 4; // heads that meet a vector of tokens at a time
static_assert(tokens % 16 == 0 && heads % together == 0);

double value_of(unsigned code) {
  const unsigned exponent = code >> 3 & 15, fraction = code & 7;
  if ((code & 0x7f) == 0x7f)
    return std::nan("");
  const double size = exponent == 0 ? std::ldexp(fraction, -9)
                                    : std::ldexp(8 + fraction, static_cast<int>(exponent) - 10);
  return code & 0x80 ? -size : size;
}

struct Call {
  const std::uint8_t* q;
  const std::uint8_t* cache;
  const float* weights;
  const std::int32_t *lengths, *table;
  double *ids, *scores, *s;
  std::int64_t table_width, pages;
  std::array<double, 256> value;
  std::atomic<bool> outside = false;
};

/// Tokens of a page as columns: products of one element with 16 tokens are whole vectors.
struct alignas(64) Columns {
  double k[dim][tokens];
  float size[dim][tokens];
};

void score(const Call& c, std::int64_t row, const std::uint8_t* page, double* scores, double* s) {
  static thread_local Columns columns;
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t i = 0; i < dim; ++i) {
      columns.k[i][t] = c.value[page[t * dim + i]];
      columns.size[i][t] = static_cast<float>(std::fabs(columns.k[i][t]));
    }
  double sum[tokens] = {}, size[tokens] = {};
  for (std::int64_t h = 0; h < heads; h += together)
    for (std::int64_t t = 0; t < tokens; t += 16) {
      Double d[together][2] = {};
      Float a[together] = {};
      for (std::int64_t i = 0; i < dim; ++i) {
        const Double k0 = *reinterpret_cast<const Double*>(&columns.k[i][t]),
                     k1 = *reinterpret_cast<const Double*>(&columns.k[i][t + 8]);
        const Float k = *reinterpret_cast<const Float*>(&columns.size[i][t]);
        for (std::int64_t j = 0; j < together; ++j) {
          const double q = c.value[c.q[(row * heads + h + j) * dim + i]];
          d[j][0] += q * k0;
          d[j][1] += q * k1;
          a[j] += static_cast<float>(std::fabs(q)) * k;
        }
      }
      for (std::int64_t j = 0; j < together; ++j) {
        const double w = c.weights[row * heads + h + j];
        for (int lane = 0; lane < 16; ++lane) {
          const double dot = d[j][lane / 8][lane % 8], most = a[j][lane];
          if (!(dot > closed * most))
            continue;
          sum[t + lane] += w * std::max(dot, 0.0);
          size[t + lane] += std::fabs(w) * most;
        }
      }
    }
  for (std::int64_t t = 0; t < tokens; ++t) {
    float scale;
    std::memcpy(&scale, page + tokens * dim + t * 4, sizeof scale);
    scores[t] = sum[t] * scale;
    s[t] = size[t] * scale + floor_s;
  }
}

/// One page of one row.
void one_page(void* context, std::int64_t task) {
  Call& c = *static_cast<Call*>(context);
  const std::int64_t row = task / c.table_width, place = task % c.table_width,
                     length = c.lengths[row], first = place * tokens, page = c.table[task];
  double *ids = c.ids + task * tokens, *scores = c.scores + task * tokens, *s = c.s + task * tokens;
  const std::int64_t here = std::clamp<std::int64_t>(length - first, 0, tokens);
  if (here > 0 && (page < 0 || page >= c.pages)) {
    c.outside = true;
    return;
  }
  if (here > 0 && length > topk)
    score(c, row, c.cache + page * page_bytes, scores, s);
  else
    std::fill(scores, scores + tokens, 0.0), std::fill(s, s + tokens, floor_s);
  for (std::int64_t t = 0; t < tokens; ++t)
    ids[t] = t < here ? static_cast<double>(page * tokens + t) : -1;
}

} // namespace

// q [batch, heads, dim] and the cache [pages, tokens, 1, dim + 4] as bytes; weights [batch, heads];
// seq_lens [batch]; block_table [batch, max_num_pages]. Out, each [batch, max_num_pages * tokens]:
// ids (-1 past a sequence's end), scores, magnitudes.
extern "C" int oracle(const std::uint8_t* q, const std::int8_t* cache, const float* weights,
                      const std::int32_t* seq_lens, const std::int32_t* block_table, double* ids,
                      double* scores, double* s, std::int64_t batch, std::int64_t max_num_pages,
                      std::int64_t num_pages) {
  Call c;
  c.q = q, c.cache = reinterpret_cast<const std::uint8_t*>(cache), c.weights = weights;
  c.lengths = seq_lens, c.table = block_table;
  c.ids = ids, c.scores = scores, c.s = s;
  c.table_width = max_num_pages, c.pages = num_pages;
  for (unsigned code = 0; code < 256; ++code)
    c.value[code] = value_of(code);
  kw_parallel_for(batch * max_num_pages, one_page, &c);
  return c.outside ? 1 : 0;
}
