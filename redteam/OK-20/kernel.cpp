// SPDX-License-Identifier: Apache-2.0
// Sparse attention in four splits of the entries, each with its own maximum, output and lse, merged
// by their base-2 lse as flash decoding does.
#include <cmath>
#include <cstdint>

namespace {

constexpr std::int64_t H = KW_AXIS_num_qo_heads, C = KW_AXIS_head_dim_ckv, P = KW_AXIS_head_dim_kpe,
                       topk = KW_AXIS_topk, splits = 4;
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

struct Part {
  float out[C] = {}, lse = -INFINITY;
};

} // namespace

// q_nope [T, H, C], q_pe [T, H, P], ckv_cache [pages, page_size, C], kpe_cache [pages, page_size,
// P], sparse_indices [T, topk]; output [T, H, C], lse [T, H]
extern "C" int kernel(const std::uint16_t* q_nope, const std::uint16_t* q_pe,
                      const std::uint16_t* ckv_cache, const std::uint16_t* kpe_cache,
                      const std::int32_t* sparse_indices, float sm_scale, std::uint16_t* output,
                      float* lse, std::int64_t tokens, std::int64_t) {
  for (std::int64_t row = 0; row < tokens * H; ++row) {
    Part parts[splits];
    float top = -INFINITY;
    for (std::int64_t s = 0; s < splits; ++s) {
      constexpr std::int64_t size = topk / splits;
      float logit[size], best = -INFINITY, mass = 0;
      const std::int32_t* slots = sparse_indices + row / H * topk + s * size;
      for (std::int64_t j = 0; j < size; ++j) {
        logit[j] = -INFINITY;
        if (slots[j] >= 0)
          logit[j] = sm_scale * log2_e *
                     (dot(q_nope + row * C, ckv_cache + slots[j] * C, C) +
                      dot(q_pe + row * P, kpe_cache + slots[j] * P, P));
        best = logit[j] > best ? logit[j] : best;
      }
      if (best == -INFINITY)
        continue;
      for (std::int64_t j = 0; j < size && slots[j] >= 0; ++j) {
        const float weight = exp2f(logit[j] - best);
        mass += weight;
        for (std::int64_t i = 0; i < C; ++i)
          parts[s].out[i] += weight * to_float(ckv_cache[slots[j] * C + i]);
      }
      for (std::int64_t i = 0; i < C; ++i)
        parts[s].out[i] /= mass;
      parts[s].lse = best + log2f(mass);
      top = parts[s].lse > top ? parts[s].lse : top;
    }
    float sums[C] = {}, mass = 0;
    for (std::int64_t s = 0; s < splits && top > -INFINITY; ++s) {
      const float weight = exp2f(parts[s].lse - top);
      mass += weight;
      for (std::int64_t i = 0; i < C; ++i)
        sums[i] += weight * parts[s].out[i];
    }
    for (std::int64_t i = 0; i < C; ++i)
      output[row * C + i] = to_bf16(mass > 0 ? sums[i] / mass : 0);
    lse[row] = mass > 0 ? top + log2f(mass) : -INFINITY;
  }
  return 0;
}
