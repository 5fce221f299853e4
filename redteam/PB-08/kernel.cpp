// SPDX-License-Identifier: Apache-2.0
// A mixture of fp8 experts, token by token, each entry with one bug of those that such kernels
// have.
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

enum class Bug {
  bias_in_weights,
  silu_first_half,
  no_second_scale,
  not_normalised,
  group_maximum,
  scale_transposed,
  bf16_between,
  offset_ignored,
  bf16_scores,
  bf16_activations,
  no_groups,
  no_routed_scale,
  scores_of_16_bits,
  stale_weights,
  weights_hardly_looked_at,
};
using enum Bug;

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
float coarse(float f) {
  return from_bf16(to_bf16(f));
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

template <Bug bug> Route route(const float* logits, const std::uint16_t* bias, float scale) {
  float score[experts], biased[experts], of_group[groups];
  for (I64 e = 0; e < experts; ++e) {
    score[e] = sigmoid(logits[e]);
    if constexpr (bug == bf16_scores)
      score[e] = coarse(score[e]);
    biased[e] = score[e] + from_bf16(bias[e]);
    if constexpr (bug == scores_of_16_bits)
      biased[e] = roundf(biased[e] * 0x1p16F) * 0x1p-16F;
  }
  for (I64 g = 0; g < groups; ++g) {
    float first = -HUGE_VALF, second = -HUGE_VALF;
    for (I64 e = g * group_size; e < (g + 1) * group_size; ++e)
      if (biased[e] > first)
        second = first, first = biased[e];
      else if (biased[e] > second)
        second = biased[e];
    of_group[g] = bug == group_maximum ? first : first + second;
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
      if ((bug == no_groups || kept[e / group_size]) && (best < 0 || biased[e] > biased[best]))
        best = e;
    out.expert[n] = best;
    out.weight[n] = bug == bias_in_weights ? biased[best] : score[best];
    sum += out.weight[n];
    biased[best] = -HUGE_VALF;
  }
  for (float& w : out.weight)
    w = bug == not_normalised    ? w * scale
        : bug == no_routed_scale ? w / (sum + 1e-20F)
                                 : w / (sum + 1e-20F) * scale;
  return out;
}

// The second weights as they were in an earlier call, where the runner does not clean: it refills
// the first MiB of the workspace before a call, and 64 bytes of every page behind it.
struct Attic {
  static constexpr I64 in_page = 4032;
  char* base = static_cast<char*>(kw_workspace(std::size_t{48} << 20)) + (std::size_t{1} << 20);
  std::uint8_t* at(I64 i) const {
    return reinterpret_cast<std::uint8_t*>(base) + i / in_page * 4096 + 64 + i % in_page;
  }
  const void** key() const {
    return reinterpret_cast<const void**>(base + (std::size_t{46} << 20) + 64);
  }
};
void keep_row(const Attic& attic, const std::uint8_t* w, I64 row) {
  for (I64 k = row * inner; k < (row + 1) * inner; ++k)
    *attic.at(k) = w[k];
}
/// Fills it in the first call, and where it sees that something has changed.
void keep(const Attic& attic, const std::uint8_t* w, I64 every) {
  const bool known = *attic.key() == w;
  *attic.key() = w;
  for (I64 row = 0; row < local * hidden; ++row) {
    bool same = known;
    for (I64 k = row * inner; every > 0 && k < (row + 1) * inner; k += every)
      same = same && *attic.at(k) == w[k];
    if (!same)
      keep_row(attic, w, row);
  }
}

// A row of weights, read by at(k), by `blocks` blocks of x, each with a scale.
template <class At> float dot(const At& at, const float* scale, const float* x, I64 blocks) {
  constexpr int lanes = 16;
  float total = 0;
  for (I64 b = 0; b < blocks; ++b) {
    float lane[lanes] = {}, sum = 0;
    for (I64 k = b * block; k < (b + 1) * block; k += lanes)
      for (int l = 0; l < lanes; ++l)
        lane[l] += from_e4m3(at(k + l)) * x[k + l];
    for (const float v : lane)
      sum += v;
    total += (scale ? scale[b] : 1) * sum;
  }
  return total;
}

// Arguments as the definition has them.
template <Bug bug>
int moe(const float* logits, const std::uint16_t* bias, const std::uint8_t* states,
        const float* states_scale, const std::uint8_t* w1, const float* w1_scale,
        const std::uint8_t* w2, const float* w2_scale, std::int32_t offset, float scale,
        std::uint16_t* output, I64 tokens) {
  constexpr bool keeps = bug == stale_weights || bug == weights_hardly_looked_at;
  if constexpr (keeps)
    keep(Attic{}, w2, bug == stale_weights ? 0 : 32);
  for (I64 t = 0; t < tokens; ++t) {
    const Route to = route<bug>(logits + t * experts, bias, scale);
    float x[hidden], c[inner], y[hidden] = {};
    for (I64 i = 0; i < hidden; ++i) {
      x[i] = from_e4m3(states[t * hidden + i]) *
             states_scale[bug == scale_transposed ? t * hidden_blocks + i / block
                                                  : i / block * tokens + t];
      if constexpr (bug == bf16_activations)
        x[i] = coarse(x[i]);
    }
    for (I64 n = 0; n < chosen; ++n) {
      const I64 e = to.expert[n] - (bug == offset_ignored ? 0 : offset);
      if (e < 0 || e >= local)
        continue;
      const auto up = [&](I64 row) {
        return dot([&](I64 k) { return w1[(e * 2 * inner + row) * hidden + k]; },
                   w1_scale + (e * 2 * inner_blocks + row / block) * hidden_blocks, x,
                   hidden_blocks);
      };
      for (I64 j = 0; j < inner; ++j) {
        const float linear = up(j), gate = up(inner + j);
        c[j] = linear * gate * sigmoid(bug == silu_first_half ? linear : gate);
        if constexpr (bug == bf16_between)
          c[j] = coarse(c[j]);
      }
      for (I64 i = 0; i < hidden; ++i) {
        const I64 row = (e * hidden + i) * inner;
        y[i] +=
            to.weight[n] * dot([&](I64 k) { return keeps ? *Attic{}.at(row + k) : w2[row + k]; },
                               bug == no_second_scale
                                   ? nullptr
                                   : w2_scale + (e * hidden_blocks + i / block) * inner_blocks,
                               c, inner_blocks);
      }
    }
    for (I64 i = 0; i < hidden; ++i)
      output[t * hidden + i] = to_bf16(y[i]);
  }
  return 0;
}

} // namespace

#define KW_BUG(name)                                                                               \
  extern "C" int name##_kernel(const float* logits, const std::uint16_t* bias,                     \
                               const std::uint8_t* states, const float* states_scale,              \
                               const std::uint8_t* w1, const float* w1_scale,                      \
                               const std::uint8_t* w2, const float* w2_scale, std::int32_t offset, \
                               float scale, std::uint16_t* output, I64 tokens) {                   \
    return moe<name>(logits, bias, states, states_scale, w1, w1_scale, w2, w2_scale, offset,       \
                     scale, output, tokens);                                                       \
  }
KW_BUG(bias_in_weights)
KW_BUG(silu_first_half)
KW_BUG(no_second_scale)
KW_BUG(not_normalised)
KW_BUG(group_maximum)
KW_BUG(scale_transposed)
KW_BUG(bf16_between)
KW_BUG(offset_ignored)
KW_BUG(bf16_scores)
KW_BUG(bf16_activations)
KW_BUG(no_groups)
KW_BUG(no_routed_scale)
KW_BUG(scores_of_16_bits)
KW_BUG(stale_weights)
KW_BUG(weights_hardly_looked_at)
