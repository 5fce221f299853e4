// SPDX-License-Identifier: Apache-2.0
// Scores one token after the other, sixteen running values per dot product, and keeps the topk greatest
// in a heap whose root is the least of them.
#include "kernwright.h"

#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t heads = KW_AXIS_num_index_heads, dim = KW_AXIS_index_head_dim, tokens = KW_AXIS_page_size,
                       topk = KW_AXIS_topk, page_bytes = tokens * KW_AXIS_head_dim_with_scale;
constexpr int lanes = 16;
static_assert(KW_AXIS_kv_cache_num_heads == 1 && KW_AXIS_head_dim_with_scale == dim + 4 && dim % lanes == 0);

struct Work {
  float value[256], q[heads * dim], k[dim];
  float scores[topk]; // a heap: no score is greater than those at 2 i + 1 and 2 i + 2
};

// float8_e4m3fn: four bits of exponent with bias 7, subnormal numbers where it is zero.
float value_of(unsigned code) {
  const unsigned exponent = code >> 3 & 15, fraction = code & 7;
  float size = static_cast<float>(exponent == 0 ? fraction : 8 + fraction);
  for (unsigned e = exponent == 0 ? 1 : exponent; e < 10; ++e)
    size *= 0.5f;
  for (unsigned e = 10; e < exponent; ++e)
    size *= 2.0f;
  return code & 0x80 ? -size : size;
}

float dot(const float* a, const float* b) {
  float lane[lanes] = {}, total = 0;
  for (std::int64_t i = 0; i < dim; i += lanes)
    for (int l = 0; l < lanes; ++l)
      lane[l] += a[i + l] * b[i + l];
  for (int l = 0; l < lanes; ++l)
    total += lane[l];
  return total;
}

float score(Work& work, const std::uint8_t* page, std::int64_t token, const float* weights) {
  for (std::int64_t i = 0; i < dim; ++i)
    work.k[i] = work.value[page[token * dim + i]];
  float total = 0, scale;
  for (std::int64_t h = 0; h < heads; ++h) {
    const float d = dot(work.q + h * dim, work.k);
    total += weights[h] * (d > 0 ? d : 0);
  }
  std::memcpy(&scale, page + tokens * dim + token * 4, sizeof scale);
  return total * scale;
}

// Puts (score, id) where entry `at` of the heap is, and lets it sink.
void sink(float* scores, std::int32_t* ids, std::int64_t at, float score, std::int32_t id) {
  for (;;) {
    std::int64_t next = 2 * at + 1;
    if (next >= topk)
      break;
    if (next + 1 < topk && scores[next + 1] < scores[next])
      ++next;
    if (!(scores[next] < score))
      break;
    scores[at] = scores[next], ids[at] = ids[next];
    at = next;
  }
  scores[at] = score, ids[at] = id;
}

} // namespace

// q [batch, heads, dim] and the cache [pages, tokens, 1, dim + 4] as bytes; weights [batch, heads];
// seq_lens [batch]; block_table [batch, max_num_pages]; topk_indices [batch, topk]
extern "C" int baseline(const std::uint8_t* q, const std::int8_t* cache, const float* weights, const std::int32_t* seq_lens,
                        const std::int32_t* block_table, std::int32_t* topk_indices, std::int64_t batch,
                        std::int64_t max_num_pages, std::int64_t) {
  Work& work = *static_cast<Work*>(kw_workspace(sizeof(Work)));
  for (unsigned code = 0; code < 256; ++code)
    work.value[code] = value_of(code);
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int32_t* table = block_table + b * max_num_pages;
    std::int32_t* ids = topk_indices + b * topk;
    const std::int64_t length = seq_lens[b];
    for (std::int64_t t = 0; t < topk; ++t)
      ids[t] = t < length ? static_cast<std::int32_t>(table[t / tokens] * tokens + t % tokens) : -1;
    if (length <= topk)
      continue;
    for (std::int64_t i = 0; i < heads * dim; ++i)
      work.q[i] = work.value[q[b * heads * dim + i]];
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t page = table[t / tokens];
      const float s = score(work, reinterpret_cast<const std::uint8_t*>(cache) + page * page_bytes, t % tokens,
                            weights + b * heads);
      const std::int32_t id = static_cast<std::int32_t>(page * tokens + t % tokens);
      if (t < topk)
        work.scores[t] = s;
      if (t == topk - 1)
        for (std::int64_t at = topk / 2; at-- > 0;)
          sink(work.scores, ids, at, work.scores[at], ids[at]);
      if (t >= topk && s > work.scores[0])
        sink(work.scores, ids, 0, s, id);
    }
  }
  return 0;
}
