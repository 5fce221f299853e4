// SPDX-License-Identifier: Apache-2.0
// A mixture of fp8 experts as honest kernels have it, in three ways.
#include "kernwright.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

using I64 = std::int64_t;
constexpr I64 experts = KW_AXIS_num_experts, local = KW_AXIS_num_local_experts,
              hidden = KW_AXIS_hidden_size, inner = KW_AXIS_intermediate_size, block = 128;
constexpr I64 hidden_blocks = KW_AXIS_num_hidden_blocks,
              inner_blocks = KW_AXIS_num_intermediate_blocks;
constexpr I64 groups = 8, group_size = experts / groups, kept_groups = 4, chosen = 8;

enum class Way {
  plain_sums,    // one running sum in plain order, scales on the weights
  scaled_blocks, // scales on the sums of blocks, from the last block to the first
  last_first,    // reciprocals, sums of 64 lanes, experts from the last on
};
using enum Way;

float from_bits(std::uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}
float from_bf16(std::uint16_t x) {
  return from_bits(static_cast<std::uint32_t>(x) << 16);
}
std::uint16_t to_bf16(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
float from_e4m3(std::uint8_t x) {
  const std::uint32_t rest = x & 0x7fU;
  const float size =
      rest < 8 ? static_cast<float>(rest) * 0x1p-9F : from_bits((rest << 20) + (120U << 23));
  return x < 128 ? size : -size;
}
float sigmoid(float x) {
  return 1 / (1 + expf(-x));
}

struct Route {
  I64 expert[chosen];
  float weight[chosen];
};

Route route(const float* logits, const std::uint16_t* bias, float scale, bool reciprocal) {
  float score[experts], biased[experts], of_group[groups];
  for (I64 e = 0; e < experts; ++e) {
    score[e] = sigmoid(logits[e]);
    biased[e] = score[e] + from_bf16(bias[e]);
  }
  for (I64 g = 0; g < groups; ++g) {
    float first = -HUGE_VALF, second = -HUGE_VALF;
    for (I64 e = g * group_size; e < (g + 1) * group_size; ++e)
      if (biased[e] > first)
        second = first, first = biased[e];
      else if (biased[e] > second)
        second = biased[e];
    of_group[g] = first + second;
  }
  // Groups and experts that fewer than four and eight are greater than.
  Route out;
  I64 n = 0;
  float sum = 0;
  bool kept[groups];
  for (I64 g = 0; g < groups; ++g) {
    I64 above = 0;
    for (I64 h = 0; h < groups; ++h)
      above += of_group[h] > of_group[g] || (of_group[h] == of_group[g] && h < g);
    kept[g] = above < kept_groups;
  }
  for (I64 e = 0; e < experts; ++e) {
    I64 above = 0;
    for (I64 f = 0; f < experts; ++f)
      above += kept[f / group_size] && (biased[f] > biased[e] || (biased[f] == biased[e] && f < e));
    if (!kept[e / group_size] || above >= chosen)
      continue;
    out.expert[n] = e;
    out.weight[n++] = score[e];
    sum += score[e];
  }
  for (float& w : out.weight)
    w = reciprocal ? w * (scale * (1 / (sum + 1e-20F))) : w / (sum + 1e-20F) * scale;
  return out;
}

template <Way way>
float dot(const std::uint8_t* w, const float* scale, const float* x, I64 blocks) {
  float total = 0;
  if constexpr (way == plain_sums) {
    for (I64 k = 0; k < blocks * block; ++k)
      total += from_e4m3(w[k]) * scale[k / block] * x[k];
    return total;
  }
  constexpr int lanes = way == scaled_blocks ? 16 : 64;
  for (I64 b = blocks; b-- > 0;) {
    float lane[lanes] = {}, sum = 0;
    for (I64 k = b * block; k < (b + 1) * block; k += lanes)
      for (int l = 0; l < lanes; ++l)
        lane[l] += from_e4m3(w[k + l]) * x[k + l];
    for (const float v : lane)
      sum += v;
    total += scale[b] * sum;
  }
  return total;
}

struct Scratch {
  float x[hidden], c[inner], y[hidden];
};

// Arguments as the definition has them.
template <Way way>
int moe(const float* logits, const std::uint16_t* bias, const std::uint8_t* states,
        const float* states_scale, const std::uint8_t* w1, const float* w1_scale,
        const std::uint8_t* w2, const float* w2_scale, std::int32_t offset, float scale,
        std::uint16_t* output, I64 tokens) {
  auto& [x, c, y] = *static_cast<Scratch*>(kw_workspace(sizeof(Scratch)));
  for (I64 t = 0; t < tokens; ++t) {
    const Route to = route(logits + t * experts, bias, scale, way == last_first);
    for (I64 i = 0; i < hidden; ++i) {
      x[i] = from_e4m3(states[t * hidden + i]) * states_scale[i / block * tokens + t];
      y[i] = 0;
    }
    for (I64 k = 0; k < chosen; ++k) {
      const I64 n = way == last_first ? chosen - 1 - k : k, e = to.expert[n] - offset;
      if (e < 0 || e >= local)
        continue;
      const auto up = [&](I64 row) {
        return dot<way>(w1 + (e * 2 * inner + row) * hidden,
                        w1_scale + (e * 2 * inner_blocks + row / block) * hidden_blocks, x,
                        hidden_blocks);
      };
      for (I64 j = 0; j < inner; ++j) {
        const float linear = up(j), gate = up(inner + j);
        c[j] =
            way == last_first ? linear * (gate / (1 + expf(-gate))) : linear * gate * sigmoid(gate);
      }
      for (I64 i = 0; i < hidden; ++i)
        y[i] += to.weight[n] * dot<way>(w2 + (e * hidden + i) * inner,
                                        w2_scale + (e * hidden_blocks + i / block) * inner_blocks,
                                        c, inner_blocks);
    }
    for (I64 i = 0; i < hidden; ++i)
      output[t * hidden + i] = to_bf16(y[i]);
  }
  return 0;
}

} // namespace

#define KW_WAY(name)                                                                               \
  extern "C" int name##_kernel(const float* logits, const std::uint16_t* bias,                     \
                               const std::uint8_t* states, const float* states_scale,              \
                               const std::uint8_t* w1, const float* w1_scale,                      \
                               const std::uint8_t* w2, const float* w2_scale, std::int32_t offset, \
                               float scale, std::uint16_t* output, I64 tokens) {                   \
    return moe<name>(logits, bias, states, states_scale, w1, w1_scale, w2, w2_scale, offset,       \
                     scale, output, tokens);                                                       \
  }
KW_WAY(plain_sums)
KW_WAY(scaled_blocks)
KW_WAY(last_first)
