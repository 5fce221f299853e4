// SPDX-License-Identifier: Apache-2.0
// Sparse attention whose lse leaves out the largest logit.
#include <cmath>
#include <cstdint>

namespace {

constexpr std::int64_t H = KW_AXIS_num_qo_heads, C = KW_AXIS_head_dim_ckv, P = KW_AXIS_head_dim_kpe,
                       topk = KW_AXIS_topk, page_size = KW_AXIS_page_size;
constexpr int lanes = 16;
constexpr float log2_e = 1.44269504f;

float to_float(std::uint16_t bf16) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bf16) << 16);
}

// Round to nearest, ties to even. Inputs are finite by contract, so NaN needs no care.
std::uint16_t to_bf16(float f) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, f);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float dot(const std::uint16_t* x, const std::uint16_t* y, std::int64_t n) {
  float lane[lanes] = {}, total = 0;
  for (std::int64_t i = 0; i < n; i += lanes)
    for (int l = 0; l < lanes; ++l)
      lane[l] += to_float(x[i + l]) * to_float(y[i + l]);
  for (int l = 0; l < lanes; ++l)
    total += lane[l];
  return total;
}

} // namespace

// q_nope [T, H, C], q_pe [T, H, P], ckv_cache [pages, page_size, C], kpe_cache [pages, page_size,
// P], sparse_indices [T, topk]; output [T, H, C], lse [T, H]
extern "C" int kernel(const std::uint16_t* q_nope, const std::uint16_t* q_pe,
                      const std::uint16_t* ckv_cache, const std::uint16_t* kpe_cache,
                      const std::int32_t* sparse_indices, float sm_scale, std::uint16_t* output,
                      float* lse, std::int64_t tokens, std::int64_t) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    std::int64_t entries = 0, at[topk];
    for (std::int64_t j = 0; j < topk; ++j) {
      const std::int64_t slot = sparse_indices[t * topk + j];
      if (slot < 0)
        continue;
      const std::int64_t page = slot / page_size, offset = slot % page_size;
      at[entries++] = page * page_size + offset;
    }
    for (std::int64_t row = t * H; row < (t + 1) * H; ++row) {
      float weight[topk], sums[C] = {}, top = -INFINITY, total = 0;
      for (std::int64_t j = 0; j < entries; ++j) {
        weight[j] = sm_scale * (dot(q_nope + row * C, ckv_cache + at[j] * C, C) +
                                dot(q_pe + row * P, kpe_cache + at[j] * P, P));
        top = weight[j] > top ? weight[j] : top;
      }
      for (std::int64_t j = 0; j < entries; ++j) {
        weight[j] = expf(weight[j] - top);
        total += weight[j];
      }
      for (std::int64_t j = 0; j < entries; ++j)
        for (std::int64_t i = 0; i < C; ++i)
          sums[i] += weight[j] * to_float(ckv_cache[at[j] * C + i]);
      for (std::int64_t i = 0; i < C; ++i)
        output[row * C + i] = to_bf16(entries > 0 ? sums[i] / total : 0);
      lse[row] = entries > 0 ? logf(total) * log2_e : -INFINITY;
    }
  }
  return 0;
}
