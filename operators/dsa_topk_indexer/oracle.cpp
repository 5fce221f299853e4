// SPDX-License-Identifier: Apache-2.0
// Scores of the DeepSeek sparse-attention indexer in fp64, for every token that a row can reach:
//
//   d_h = sum_i q_hi k_ti        z_t = c_t sum_h w_h max(d_h, 0)        (c_t: scale of the token)
//
// k and q are float8_e4m3fn; a product of two has 8 bits, and a sum of 128 lies between 2^-18 and
// 2^25, so that d_h is exact. A page holds the vectors of its tokens first, then their scales.
//
// Magnitudes, in units of u = 2^-24: fp32 rounds sums of at most A_h = sum_i |q_hi k_ti| (and,
// where k is multiplied by its scale first, every product), relu lets no error grow, and the sum
// over heads has terms of at most |w_h| A_h:
//
//   S_t = c_t sum_h |w_h| A_h    over the heads with d_h > -2^-16 A_h
//
// A head further below zero than that stays closed under any order of fp32 sums, and adds nothing.
// A floor of 2^-102 (times u: 2^-126) stands for subnormal results. Rows of no more than topk
// tokens take them all: their scores are not computed.
#include "kernwright.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t heads = KW_AXIS_num_index_heads, dim = KW_AXIS_index_head_dim,
                       tokens = KW_AXIS_page_size, topk = KW_AXIS_topk,
                       page_bytes = tokens * KW_AXIS_head_dim_with_scale;
constexpr double floor_s = 0x1p-102, closed = -0x1p-16;
static_assert(KW_AXIS_kv_cache_num_heads == 1 && KW_AXIS_head_dim_with_scale == dim + 4);

#ifdef __AVX512F__
constexpr std::int64_t vector_bytes = 64;
#else
constexpr std::int64_t vector_bytes = 32;
#endif
using Doubles = double __attribute__((vector_size(vector_bytes)));
using Floats = float __attribute__((vector_size(vector_bytes)));
constexpr std::int64_t W = vector_bytes / 8,
                       F = vector_bytes / 4; // F tokens meet some heads at a time
constexpr std::int64_t pages_per_task = 8;
static_assert(tokens % F == 0 && heads % 8 == 0);

double value_of(unsigned code) {
  const unsigned exponent = code >> 3 & 15, fraction = code & 7;
  if ((code & 0x7f) == 0x7f)
    return std::nan("");
  const double size = exponent == 0 ? std::ldexp(fraction, -9)
                                    : std::ldexp(8 + fraction, static_cast<int>(exponent) - 10);
  return code & 0x80 ? -size : size;
}

template <class V, class T> V load(const T* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// The queries of a row.
struct alignas(64) Queries {
  double q[heads][dim];
  float size[heads][dim];
};

/// Tokens of a page as columns: products of one element with F tokens are whole vectors.
struct alignas(64) Columns {
  double k[dim][tokens];
  float size[dim][tokens];
};

/// What one head makes of F tokens: d_h and A_h.
struct alignas(64) Dots {
  double dot[heads][F];
  float most[heads][F];
};

void multiply(const Queries& row, const Columns& page, std::int64_t t, Dots& out) {
  constexpr std::int64_t few = 4, many = 8; // as many as registers hold
  for (std::int64_t h = 0; h < heads; h += few) {
    Doubles d[few][2] = {};
    for (std::int64_t i = 0; i < dim; ++i) {
      const auto k0 = load<Doubles>(&page.k[i][t]), k1 = load<Doubles>(&page.k[i][t + W]);
      for (std::int64_t j = 0; j < few; ++j)
        d[j][0] += row.q[h + j][i] * k0, d[j][1] += row.q[h + j][i] * k1;
    }
    std::memcpy(out.dot[h], d, sizeof d);
  }
  for (std::int64_t h = 0; h < heads; h += many) {
    Floats a[many] = {};
    for (std::int64_t i = 0; i < dim; ++i) {
      const auto k = load<Floats>(&page.size[i][t]);
      for (std::int64_t j = 0; j < many; ++j)
        a[j] += row.size[h + j][i] * k;
    }
    std::memcpy(out.most[h], a, sizeof a);
  }
}

void score(const Queries& row, const float* weights, const Columns& columns,
           const std::uint8_t* page, double* scores, double* s) {
  Dots dots;
  for (std::int64_t t = 0; t < tokens; t += F) {
    multiply(row, columns, t, dots);
    double sum[F] = {}, size[F] = {};
    for (std::int64_t h = 0; h < heads; ++h) {
      const double w = weights[h], w_size = std::fabs(w);
      for (std::int64_t lane = 0; lane < F; ++lane) {
        const double dot = dots.dot[h][lane], most = static_cast<double>(dots.most[h][lane]);
        sum[lane] += dot > 0 ? w * dot : 0;
        size[lane] += dot > closed * most ? w_size * most : 0;
      }
    }
    for (std::int64_t lane = 0; lane < F; ++lane) {
      float scale;
      std::memcpy(&scale, page + tokens * dim + (t + lane) * 4, sizeof scale);
      scores[t + lane] = sum[lane] * static_cast<double>(scale);
      s[t + lane] = size[lane] * static_cast<double>(scale) + floor_s;
    }
  }
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

  void read(std::int64_t row, Queries& to) const {
    const std::uint8_t* code = q + row * heads * dim;
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < dim; ++i, ++code)
        to.q[h][i] = value[*code], to.size[h][i] = static_cast<float>(std::fabs(to.q[h][i]));
  }
  void read(const std::uint8_t* page, Columns& to) const {
    for (std::int64_t i = 0; i < dim; ++i)
      for (std::int64_t t = 0; t < tokens; ++t) {
        to.k[i][t] = value[page[t * dim + i]];
        to.size[i][t] = static_cast<float>(std::fabs(to.k[i][t]));
      }
  }
};

/// Up to `pages_per_task` pages of one row.
void some_pages(void* context, std::int64_t task) {
  static thread_local Queries queries;
  static thread_local Columns columns;
  Call& c = *static_cast<Call*>(context);
  const std::int64_t tasks_per_row = (c.table_width + pages_per_task - 1) / pages_per_task;
  const std::int64_t row = task / tasks_per_row, length = c.lengths[row],
                     begin = task % tasks_per_row * pages_per_task,
                     end = std::min(begin + pages_per_task, c.table_width);
  const bool to_score = length > topk && length > begin * tokens;
  if (to_score)
    c.read(row, queries);
  for (std::int64_t place = begin; place < end; ++place) {
    const std::int64_t at = row * c.table_width + place, page = c.table[at];
    const std::int64_t here = std::clamp<std::int64_t>(length - place * tokens, 0, tokens);
    if (here > 0 && (page < 0 || page >= c.pages)) {
      c.outside = true;
      return;
    }
    double *ids = c.ids + at * tokens, *scores = c.scores + at * tokens, *s = c.s + at * tokens;
    if (here > 0 && to_score) {
      const std::uint8_t* bytes = c.cache + page * page_bytes;
      c.read(bytes, columns);
      score(queries, c.weights + row * heads, columns, bytes, scores, s);
    } else
      std::fill(scores, scores + tokens, 0.0), std::fill(s, s + tokens, floor_s);
    for (std::int64_t t = 0; t < tokens; ++t)
      ids[t] = t < here ? static_cast<double>(page * tokens + t) : -1;
  }
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
  kw_parallel_for(batch * ((max_num_pages + pages_per_task - 1) / pages_per_task), some_pages, &c);
  return c.outside ? 1 : 0;
}
