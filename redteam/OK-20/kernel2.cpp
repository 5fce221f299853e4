// SPDX-License-Identifier: Apache-2.0
// Sparse attention from the last entry to the first with a running maximum, one running value per
// sum and per product.
#include <cmath>
#include <cstdint>

namespace {

constexpr std::int64_t H = KW_AXIS_num_qo_heads, C = KW_AXIS_head_dim_ckv, P = KW_AXIS_head_dim_kpe,
                       topk = KW_AXIS_topk;

float to_float(std::uint16_t bf16) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bf16) << 16);
}

// Round to nearest, ties to even. Inputs are finite by contract, so NaN needs no care.
std::uint16_t to_bf16(float f) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, f);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

} // namespace

// q_nope [T, H, C], q_pe [T, H, P], ckv_cache [pages, page_size, C], kpe_cache [pages, page_size,
// P], sparse_indices [T, topk]; output [T, H, C], lse [T, H]
extern "C" int kernel(const std::uint16_t* q_nope, const std::uint16_t* q_pe,
                      const std::uint16_t* ckv_cache, const std::uint16_t* kpe_cache,
                      const std::int32_t* sparse_indices, float sm_scale, std::uint16_t* output,
                      float* lse, std::int64_t tokens, std::int64_t) {
  for (std::int64_t row = 0; row < tokens * H; ++row) {
    float sums[C] = {}, top = -INFINITY, mass = 0;
    for (std::int64_t j = topk; j-- > 0;) {
      const std::int64_t slot = sparse_indices[row / H * topk + j];
      if (slot < 0)
        continue;
      float logit = 0;
      for (std::int64_t i = 0; i < C; ++i)
        logit += to_float(q_nope[row * C + i]) * to_float(ckv_cache[slot * C + i]);
      for (std::int64_t i = 0; i < P; ++i)
        logit += to_float(q_pe[row * P + i]) * to_float(kpe_cache[slot * P + i]);
      logit *= sm_scale;
      if (logit > top) {
        const float fades = expf(top - logit);
        mass *= fades;
        for (std::int64_t i = 0; i < C; ++i)
          sums[i] *= fades;
        top = logit;
      }
      const float weight = expf(logit - top);
      mass += weight;
      for (std::int64_t i = 0; i < C; ++i)
        sums[i] += weight * to_float(ckv_cache[slot * C + i]);
    }
    for (std::int64_t i = 0; i < C; ++i)
      output[row * C + i] = to_bf16(mass > 0 ? sums[i] / mass : 0);
    lse[row] = mass > 0 ? (top + logf(mass)) / 0.693147181f : -INFINITY;
  }
  return 0;
}
