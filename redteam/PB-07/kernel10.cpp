// SPDX-License-Identifier: Apache-2.0
// Bins by eight bits of the score rounded to float16; within the k-th's bin the lower 24 bits of the float32
// decide, as if the same bin meant the same upper byte.
#include "kernwright.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t heads = KW_AXIS_num_index_heads, dim = KW_AXIS_index_head_dim, tokens = KW_AXIS_page_size,
                       topk = KW_AXIS_topk, page_bytes = tokens * KW_AXIS_head_dim_with_scale;

struct Work {
  float value[256], q[heads * dim];
  std::uint64_t keys[1 << 20];
};

float value_of(unsigned code) {
  return std::bit_cast<float>((code & 0x7f) << 20) * (code & 0x80 ? -0x1p120f : 0x1p120f);
}

float score(const Work& work, const std::uint8_t* page, std::int64_t t, const float* weights) {
  constexpr int lanes = 16;
  float total = 0, scale, k[dim];
  for (std::int64_t i = 0; i < dim; ++i)
    k[i] = work.value[page[t * dim + i]];
  for (std::int64_t h = 0; h < heads; ++h) {
    float lane[lanes] = {}, d = 0;
    for (std::int64_t i = 0; i < dim; i += lanes)
      for (int l = 0; l < lanes; ++l)
        lane[l] += work.q[h * dim + i + l] * k[i + l];
    for (int l = 0; l < lanes; ++l)
      d += lane[l];
    total += weights[h] * (d > 0 ? d : 0);
  }
  std::memcpy(&scale, page + tokens * dim + t * 4, sizeof scale);
  return total * scale;
}

// Ascends with the score.
std::uint64_t key_of(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);
  const std::uint32_t rounded = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
  const auto ordered = [](std::uint32_t x) { return x >> 31 ? ~x : x | 0x80000000u; };
  return std::uint64_t{ordered(rounded) >> 21} << 24 | (ordered(bits) & 0xffffffu);
}

// The greatest number that topk keys are not below.
std::uint64_t kth(const std::uint64_t* keys, std::int64_t n) {
  std::uint64_t least = 0;
  for (int bit = 34; bit >= 0; --bit) {
    const std::uint64_t trial = least | std::uint64_t{1} << bit;
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
        work.q[i] = work.value[q[b * heads * dim + i]];
      for (std::int64_t t = 0; t < n; ++t) {
        const std::int64_t page = table[t / tokens];
        work.keys[t] = key_of(score(work, reinterpret_cast<const std::uint8_t*>(cache) + page * page_bytes, t % tokens,
                                    weights + b * heads));
      }
      const std::uint64_t least = kth(work.keys, n);
      for (std::int64_t t = 0; t < n; ++t)
        if (work.keys[t] > least)
          ids[taken++] = id_of(table, t);
      for (std::int64_t t = 0; t < n && taken < topk; ++t)
        if (work.keys[t] == least)
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
