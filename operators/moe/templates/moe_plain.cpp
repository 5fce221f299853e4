// SPDX-License-Identifier: Apache-2.0
// A mixture of fp8 experts without vector intrinsics: a row of weights is widened and scaled once,
// and meets all tokens that the expert has of a block.
//
//   LANES  running values of a sum
//   B      tokens in a block: weights are read once per block
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int64_t EXPERTS = KW_AXIS_num_experts, LOCAL = KW_AXIS_num_local_experts,
                  HIDDEN = KW_AXIS_hidden_size, INNER = KW_AXIS_intermediate_size, BLOCK = 128;
constexpr int64_t HB = HIDDEN / BLOCK, IB = INNER / BLOCK;
constexpr int64_t GROUPS = 8, GROUP = EXPERTS / GROUPS, KEPT = 4, CHOSEN = 8;
constexpr int LANES = KW_P_LANES;
constexpr int64_t B = KW_P_B;
constexpr float LOWEST = -3.0e38f;

static inline float widen1(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
static inline uint16_t narrow(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static inline float sigmoid(float x) {
  return 1.0f / (1.0f + __builtin_expf(-x));
}
/// e4m3: normal numbers by moving bits, subnormal ones as multiples of 2^-9.
static inline float from_e4m3(uint8_t x) {
  const uint32_t rest = x & 0x7fu, sign = (x & 0x80u) << 24;
  const float normal = __builtin_bit_cast(float, (rest << 20) + (120u << 23));
  const float size = rest < 8 ? static_cast<float>(rest) * 0x1p-9f : normal;
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, size) | sign);
}
/// n numbers, the scale of block b at scale[b * stride].
static inline void widen(const uint8_t* from, const float* scale, int64_t stride, int64_t n,
                         float* to) {
  for (int64_t b = 0; b < n / BLOCK; ++b)
    for (int64_t i = b * BLOCK; i < (b + 1) * BLOCK; ++i)
      to[i] = from_e4m3(from[i]) * scale[b * stride];
}
static inline float dot(const float* w, const float* x, int64_t n) {
  float lane[LANES] = {}, sum = 0;
  for (int64_t k = 0; k < n; k += LANES)
    for (int l = 0; l < LANES; ++l)
      lane[l] += w[k + l] * x[k + l];
  for (int l = 0; l < LANES; ++l)
    sum += lane[l];
  return sum;
}

struct Chosen {
  int32_t expert[CHOSEN];
  float weight[CHOSEN];
};

static inline Chosen route(const float* logits, const uint16_t* bias, float scale) {
  float score[EXPERTS], biased[EXPERTS], of_group[GROUPS];
  for (int64_t e = 0; e < EXPERTS; ++e) {
    score[e] = sigmoid(logits[e]);
    biased[e] = score[e] + widen1(bias[e]);
  }
  for (int64_t g = 0; g < GROUPS; ++g) {
    float first = LOWEST, second = LOWEST;
    for (int64_t e = g * GROUP; e < (g + 1) * GROUP; ++e) {
      const float low = biased[e] < first ? biased[e] : first;
      first = biased[e] < first ? first : biased[e];
      second = low > second ? low : second;
    }
    of_group[g] = first + second;
  }
  bool kept[GROUPS] = {};
  for (int64_t n = 0; n < KEPT; ++n) {
    int64_t best = -1;
    for (int64_t g = 0; g < GROUPS; ++g)
      if (!kept[g] && (best < 0 || of_group[g] > of_group[best]))
        best = g;
    kept[best] = true;
  }
  Chosen out;
  float sum = 0;
  for (int64_t n = 0; n < CHOSEN; ++n) {
    int64_t best = -1;
    for (int64_t e = 0; e < EXPERTS; ++e)
      if (kept[e / GROUP] && (best < 0 || biased[e] > biased[best]))
        best = e;
    out.expert[n] = static_cast<int32_t>(best);
    out.weight[n] = score[best];
    sum += score[best];
    biased[best] = LOWEST;
  }
  for (float& w : out.weight)
    w = w / (sum + 1e-20f) * scale;
  return out;
}

struct Work {
  float x[B][HIDDEN], y[B][HIDDEN], c[B][INNER];
  float linear[HIDDEN], gate[HIDDEN], weight[B];
  int64_t tokens[B];
  Chosen to[B];
};

struct Expert {
  const uint8_t* w1;
  const float* s1;
  const uint8_t* w2;
  const float* s2;
};

static inline void one_expert(const Expert& e, Work& work, int64_t count) {
  for (int64_t j = 0; j < INNER; ++j) {
    const int64_t row = INNER + j;
    widen(e.w1 + j * HIDDEN, e.s1 + j / BLOCK * HB, 1, HIDDEN, work.linear);
    widen(e.w1 + row * HIDDEN, e.s1 + row / BLOCK * HB, 1, HIDDEN, work.gate);
    for (int64_t t = 0; t < count; ++t) {
      const float* x = work.x[work.tokens[t]];
      const float gate = dot(work.gate, x, HIDDEN);
      work.c[t][j] = dot(work.linear, x, HIDDEN) * gate * sigmoid(gate);
    }
  }
  for (int64_t i = 0; i < HIDDEN; ++i) {
    widen(e.w2 + i * INNER, e.s2 + i / BLOCK * IB, 1, INNER, work.linear);
    for (int64_t t = 0; t < count; ++t)
      work.y[work.tokens[t]][i] += work.weight[t] * dot(work.linear, work.c[t], INNER);
  }
}

static int KW_ENTRY(const float* logits, const uint16_t* bias, const uint8_t* states,
                    const float* states_scale, const uint8_t* w1, const float* w1_scale,
                    const uint8_t* w2, const float* w2_scale, int32_t offset, float scale,
                    uint16_t* output, int64_t tokens) {
  constexpr int64_t S1 = 2 * IB * HB, S2 = HB * IB;
  auto* work = static_cast<Work*>(kw_workspace(sizeof(Work)));
  if (!work)
    return 1;
  for (int64_t first = 0; first < tokens; first += B) {
    const int64_t n = tokens - first < B ? tokens - first : B;
    for (int64_t t = 0; t < n; ++t) {
      work->to[t] = route(logits + (first + t) * EXPERTS, bias, scale);
      widen(states + (first + t) * HIDDEN, states_scale + first + t, tokens, HIDDEN, work->x[t]);
      for (int64_t i = 0; i < HIDDEN; ++i)
        work->y[t][i] = 0;
    }
    for (int64_t e = 0; e < LOCAL; ++e) {
      int64_t count = 0;
      for (int64_t t = 0; t < n; ++t)
        for (int64_t k = 0; k < CHOSEN; ++k)
          if (work->to[t].expert[k] == e + offset) {
            work->tokens[count] = t;
            work->weight[count++] = work->to[t].weight[k];
          }
      if (count > 0)
        one_expert({w1 + e * 2 * INNER * HIDDEN, w1_scale + e * S1, w2 + e * HIDDEN * INNER,
                    w2_scale + e * S2},
                   *work, count);
    }
    for (int64_t t = 0; t < n; ++t)
      for (int64_t i = 0; i < HIDDEN; ++i)
        output[(first + t) * HIDDEN + i] = narrow(work->y[t][i]);
  }
  return 0;
}

} // namespace KW_NAMESPACE
