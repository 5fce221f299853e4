// SPDX-License-Identifier: Apache-2.0
// Vectors are multiplied by their scale first, products are summed one after the other, heads from the last
// to the first, and indices stand in falling order; of equal scores the last are taken.
#include "kernwright.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t heads = KW_AXIS_num_index_heads, dim = KW_AXIS_index_head_dim, tokens = KW_AXIS_page_size,
                       topk = KW_AXIS_topk, page_bytes = tokens * KW_AXIS_head_dim_with_scale;

struct Work {
  float value[256], q[heads * dim];
  std::uint32_t keys[1 << 20];
};

float value_of(unsigned code) {
  return std::bit_cast<float>((code & 0x7f) << 20) * (code & 0x80 ? -0x1p120f : 0x1p120f);
}

float score(const Work& work, const std::uint8_t* page, std::int64_t t, const float* weights) {
  float total = 0, scale, k[dim];
  std::memcpy(&scale, page + tokens * dim + t * 4, sizeof scale);
  for (std::int64_t i = 0; i < dim; ++i)
    k[i] = work.value[page[t * dim + i]] * scale;
  float d[heads] = {};
  for (std::int64_t i = 0; i < dim; ++i)
    for (std::int64_t h = 0; h < heads; ++h)
      d[h] += work.q[i * heads + h] * k[i];
  for (std::int64_t h = heads; h-- > 0;) {
    total += weights[h] * (d[h] > 0 ? d[h] : 0);
  }
  return total;
}

// Ascends with the score.
std::uint32_t key_of(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

// The greatest number that topk keys are not below.
std::uint32_t kth(const std::uint32_t* keys, std::int64_t n) {
  std::uint32_t least = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const std::uint32_t trial = least | 1u << bit;
    std::int64_t count = 0;
    for (std::int64_t t = 0; t < n; ++t)
      count += keys[t] >= trial;
    if (count >= topk)
      least = trial;
  }
  return least;
}

std::int32_t id_of(const std::int32_t* table, std::int64_t t) {
  return static_cast<std::int32_t>(table[t / tokens] * tokens + t % tokens);
}

} // namespace

extern "C" int kernel(const std::uint8_t* q, const std::int8_t* cache, const float* weights,
                      const std::int32_t* seq_lens, const std::int32_t* block_table, std::int32_t* topk_indices,
                      std::int64_t batch, std::int64_t max_num_pages, std::int64_t) {
  Work& work = *static_cast<Work*>(kw_workspace(sizeof(Work)));
  for (unsigned code = 0; code < 256; ++code)
    work.value[code] = value_of(code);
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int32_t* table = block_table + b * max_num_pages;
    std::int32_t* ids = topk_indices + b * topk;
    const std::int64_t n = seq_lens[b];
    std::int64_t taken = 0;
    if (n > topk) {
      for (std::int64_t i = 0; i < heads * dim; ++i)
        work.q[i % dim * heads + i / dim] = work.value[q[b * heads * dim + i]];
      for (std::int64_t t = 0; t < n; ++t) {
        const std::int64_t page = table[t / tokens];
        work.keys[t] = key_of(score(work, reinterpret_cast<const std::uint8_t*>(cache) + page * page_bytes, t % tokens,
                                    weights + b * heads));
      }
      const std::uint32_t least = kth(work.keys, n);
      std::int64_t equal = topk;
      for (std::int64_t t = 0; t < n; ++t)
        equal -= work.keys[t] > least;
      for (std::int64_t t = n; t-- > 0;) // of equal scores the last
        if (work.keys[t] > least || (work.keys[t] == least && equal-- > 0))
          ids[taken++] = id_of(table, t);
    } else {
      for (; taken < n; ++taken)
        ids[taken] = id_of(table, taken);
    }
    for (; taken < topk; ++taken)
      ids[taken] = -1;
  }
  return 0;
}
