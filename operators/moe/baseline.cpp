// SPDX-License-Identifier: Apache-2.0
// Routing, then expert by expert: each row of weights is widened and scaled once, and meets the
// tokens that the expert has of a chunk. Running values in lanes, since the compiler may not
// reorder fp32 sums by itself.
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
constexpr I64 chunk = 512; // tokens
constexpr int lanes = 32;

float from_bf16(std::uint16_t x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}
// Sign, 4 bits of exponent with bias 7, 3 of significand; inputs are finite by contract.
struct E4m3 {
  float value[256] = {};
  constexpr E4m3() {
    for (int x = 0; x < 256; ++x) {
      const int exponent = x >> 3 & 15, significand = x & 7;
      float size = static_cast<float>(exponent == 0 ? significand : 8 + significand) * 0x1p-9F;
      for (int i = 1; i < exponent; ++i)
        size *= 2;
      value[x] = x < 128 ? size : -size;
    }
  }
};
constexpr E4m3 e4m3;
float from_e4m3(std::uint8_t x) {
  return e4m3.value[x];
}
// Round to nearest, ties to even.
std::uint16_t to_bf16(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float sigmoid(float x) {
  return 1 / (1 + expf(-x));
}

struct Route {
  I64 expert[chosen];
  float weight[chosen];
};

Route route(const float* logits, const std::uint16_t* bias, float scale) {
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
  bool kept[groups] = {};
  for (I64 n = 0; n < kept_groups; ++n) {
    I64 best = -1;
    for (I64 g = 0; g < groups; ++g)
      if (!kept[g] && (best < 0 || of_group[g] > of_group[best]))
        best = g;
    kept[best] = true;
  }
  Route out;
  float sum = 0;
  for (I64 n = 0; n < chosen; ++n) {
    I64 best = -1;
    for (I64 e = 0; e < experts; ++e)
      if (kept[e / group_size] && (best < 0 || biased[e] > biased[best]))
        best = e;
    out.expert[n] = best;
    out.weight[n] = score[best];
    sum += score[best];
    biased[best] = -HUGE_VALF;
  }
  for (float& w : out.weight)
    w = w / (sum + 1e-20F) * scale;
  return out;
}

// n numbers, a scale to every block of them.
void widen(const std::uint8_t* from, const float* scale, I64 n, float* to) {
  for (I64 i = 0; i < n; ++i)
    to[i] = from_e4m3(from[i]) * scale[i / block];
}

float dot(const float* w, const float* x, I64 n) {
  float lane[lanes] = {}, sum = 0;
  for (I64 k = 0; k < n; k += lanes)
    for (int l = 0; l < lanes; ++l)
      lane[l] += w[k + l] * x[k + l];
  for (const float v : lane)
    sum += v;
  return sum;
}

struct Scratch {
  float x[chunk][hidden], y[chunk][hidden], c[chunk][inner];
  float linear[hidden], gate[hidden], weight[chunk];
  I64 token[chunk]; // those that an expert has
  Route route[chunk];
};

} // namespace

extern "C" int baseline(const float* logits, const std::uint16_t* bias, const std::uint8_t* states,
                        const float* states_scale, const std::uint8_t* w1, const float* w1_scale,
                        const std::uint8_t* w2, const float* w2_scale, std::int32_t offset,
                        float scale, std::uint16_t* output, I64 tokens) {
  auto& [x, y, c, linear, gate, weight, token, routes] =
      *static_cast<Scratch*>(kw_workspace(sizeof(Scratch)));
  for (I64 start = 0; start < tokens; start += chunk) {
    const I64 n = tokens - start < chunk ? tokens - start : chunk;
    for (I64 t = 0; t < n; ++t) {
      routes[t] = route(logits + (start + t) * experts, bias, scale);
      for (I64 i = 0; i < hidden; ++i) {
        x[t][i] = from_e4m3(states[(start + t) * hidden + i]) *
                  states_scale[i / block * tokens + start + t];
        y[t][i] = 0;
      }
    }
    for (I64 e = 0; e < local; ++e) {
      I64 count = 0;
      for (I64 t = 0; t < n; ++t)
        for (I64 k = 0; k < chosen; ++k)
          if (routes[t].expert[k] == e + offset)
            token[count] = t, weight[count++] = routes[t].weight[k];
      if (count == 0)
        continue;
      const auto up = [&](I64 row, float* to) {
        widen(w1 + (e * 2 * inner + row) * hidden,
              w1_scale + (e * 2 * inner_blocks + row / block) * hidden_blocks, hidden, to);
      };
      for (I64 j = 0; j < inner; ++j) {
        up(j, linear);
        up(inner + j, gate);
        for (I64 t = 0; t < count; ++t) {
          const float g = dot(gate, x[token[t]], hidden);
          c[t][j] = dot(linear, x[token[t]], hidden) * g * sigmoid(g);
        }
      }
      for (I64 i = 0; i < hidden; ++i) {
        widen(w2 + (e * hidden + i) * inner,
              w2_scale + (e * hidden_blocks + i / block) * inner_blocks, inner, linear);
        for (I64 t = 0; t < count; ++t)
          y[token[t]][i] += weight[t] * dot(linear, c[t], inner);
      }
    }
    for (I64 t = 0; t < n; ++t)
      for (I64 i = 0; i < hidden; ++i)
        output[(start + t) * hidden + i] = to_bf16(y[t][i]);
  }
  return 0;
}
