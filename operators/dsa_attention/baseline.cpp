// SPDX-License-Identifier: Apache-2.0
// Attention over the chosen entries of a paged cache in three passes per head: logits, softmax,
// weighted sum of the values. Sixteen running values per dot product, since the compiler may not
// reorder fp32 sums by itself.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t H = KW_AXIS_num_qo_heads, C = KW_AXIS_head_dim_ckv, P = KW_AXIS_head_dim_kpe,
                       topk = KW_AXIS_topk, page_size = KW_AXIS_page_size;
constexpr int lanes = 16;
constexpr float log2_e = 1.44269504f;
static_assert(C % lanes == 0 && P % lanes == 0);

float to_float(std::uint16_t bf16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

// Round to nearest, ties to even. Inputs are finite by contract, so NaN needs no care.
std::uint16_t to_bf16(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float dot(const float* x, const std::uint16_t* y, std::int64_t n) {
  float lane[lanes] = {}, total = 0;
  for (std::int64_t i = 0; i < n; i += lanes)
    for (int l = 0; l < lanes; ++l)
      lane[l] += x[i + l] * to_float(y[i + l]);
  for (int l = 0; l < lanes; ++l)
    total += lane[l];
  return total;
}

} // namespace

// q_nope [T, H, C], q_pe [T, H, P], ckv_cache [pages, page_size, C], kpe_cache [pages, page_size,
// P], sparse_indices [T, topk]; output [T, H, C], lse [T, H]
extern "C" int baseline(const std::uint16_t* q_nope, const std::uint16_t* q_pe,
                        const std::uint16_t* ckv_cache, const std::uint16_t* kpe_cache,
                        const std::int32_t* sparse_indices, float sm_scale, std::uint16_t* output,
                        float* lse, std::int64_t tokens, std::int64_t) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    std::int64_t entries = 0;
    const std::uint16_t *value[topk], *rotary[topk];
    for (std::int64_t j = 0; j < topk; ++j) {
      const std::int64_t slot = sparse_indices[t * topk + j];
      if (slot < 0)
        continue;
      const std::int64_t page = slot / page_size, offset = slot % page_size;
      value[entries] = ckv_cache + (page * page_size + offset) * C;
      rotary[entries++] = kpe_cache + (page * page_size + offset) * P;
    }
    for (std::int64_t at = t * H; at < (t + 1) * H; ++at) {
      float query[C], turned[P], weight[topk], sums[C] = {}, top = -INFINITY, total = 0;
      for (std::int64_t i = 0; i < C; ++i)
        query[i] = to_float(q_nope[at * C + i]);
      for (std::int64_t i = 0; i < P; ++i)
        turned[i] = to_float(q_pe[at * P + i]);
      for (std::int64_t j = 0; j < entries; ++j) {
        weight[j] = sm_scale * (dot(query, value[j], C) + dot(turned, rotary[j], P));
        top = weight[j] > top ? weight[j] : top;
      }
      for (std::int64_t j = 0; j < entries; ++j)
        total += weight[j] = expf(weight[j] - top);
      for (std::int64_t j = 0; j < entries; ++j)
        for (std::int64_t i = 0; i < C; ++i)
          sums[i] += weight[j] * to_float(value[j][i]);
      for (std::int64_t i = 0; i < C; ++i)
        output[at * C + i] = to_bf16(entries > 0 ? sums[i] / total : 0);
      lse[at] = entries > 0 ? (top + logf(total)) * log2_e : -INFINITY;
    }
  }
  return 0;
}
