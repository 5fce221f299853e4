// SPDX-License-Identifier: Apache-2.0
// Mixture of fp8 experts behind DeepSeek-V3's routing, in fp64.
//
//   s = sigmoid(logit), b = s + bias; group score = its two greatest b added
//   chosen: in the 4 best of 8 groups the 8 greatest b; w = scale s / (sum of the 8 s + 1e-20)
//   G = (A sa) (W1 s1)^T
//   C = G_linear silu(G_gate), the gate being the second half of the rows
//   O = C (W2 s2)^T
//   y = sum over chosen experts here of w O
//
// Magnitudes, in units of u = 2^-24:
//   G: g = sum of |terms|. Products and sums round relative to no more, in any order.
//   C: c = |silu(x2)| g1 + |x1 silu'(x2)| g2 + 8 |C|, and 2^-100 |x1| (1 + |x2|), where exp
//      overflows.
//   O: sum |C W2 s2| + 2 sqrt(sum (c W2 s2)^2). Errors of different rows of G come from different
//      sums and are independent, so that variances are added. A worst case would be 30 times as
//      wide, and would hide an intermediate result in bf16.
//   y: sum over experts of |w| (that of O + 16 |O|), 16 for the roundings of w, and 2^-102 for what
//      is subnormal.
//
// Near-ties: the magnitude of a score b is 2 s + |bias|, of a group that of both its scores. Where
// the last group or expert taken and the first left out differ by no more than eta u times their
// magnitudes, roundings decide, and either choice is right. Then y is that of the exact choice, and
// S, the greatest of all choices, is widened by the distance to the farthest of them (and 2^-6 of
// it, for its rounding to bf16) over eta u, so that the bound just includes it. One token in some
// 10,000 has that by chance. If more than eight groups or experts contest the last places only the
// exact choice is right.
//
// Entries: `oracle` the whole, `block` some rows and columns, `near_ties` logits with near-ties.
#include "kernwright.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace {

using I64 = std::int64_t;
constexpr I64 experts = KW_AXIS_num_experts, local = KW_AXIS_num_local_experts,
              hidden = KW_AXIS_hidden_size, inner = KW_AXIS_intermediate_size, block_size = 128;
constexpr I64 hidden_blocks = KW_AXIS_num_hidden_blocks,
              inner_blocks = KW_AXIS_num_intermediate_blocks,
              gate_blocks = KW_AXIS_num_gemm1_out_blocks;
constexpr I64 groups = 8, group_size = experts / groups, kept_groups = 4, chosen = 8;
constexpr double eta_u = KW_ETA_output * 0x1p-24, floor_s = 0x1p-102;
static_assert(hidden_blocks * block_size == hidden && inner_blocks * block_size == inner &&
              gate_blocks * block_size == 2 * inner && KW_AXIS_gemm1_out_size == 2 * inner);

double value(std::uint16_t bf16) { // bf16 is the upper half of a float
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return static_cast<double>(f);
}
struct E4m3 { // sign, 4 bits of exponent with bias 7, 3 of significand; inputs are finite
  double value[256];
  E4m3() {
    for (int x = 0; x < 256; ++x) {
      const int exponent = x >> 3 & 15, significand = x & 7;
      const double size =
          exponent == 0 ? std::ldexp(significand, -9) : std::ldexp(8 + significand, exponent - 10);
      value[x] = x < 128 ? size : -size;
    }
  }
};
const E4m3 e4m3;
void widen(const std::uint8_t* from, I64 n, double* to) {
  for (I64 i = 0; i < n; ++i)
    to[i] = e4m3.value[from[i]];
}
I64 pick(const I64* list, I64 i) {
  return list == nullptr ? i : list[i];
}

// ---- routing ----
struct Ranked {
  double score, size; ///< and its magnitude
  I64 index;
};
/// Roundings may decide between them.
bool contested(const Ranked& a, const Ranked& b) {
  return std::fabs(a.score - b.score) <= eta_u * (a.size + b.size);
}
/// The greatest first, the smaller index before the greater one.
void sort(std::vector<Ranked>& of) {
  std::sort(of.begin(), of.end(), [](const Ranked& a, const Ranked& b) {
    return a.score != b.score ? a.score > b.score : a.index < b.index;
  });
}

using Choice = std::vector<I64>;
/// The n greatest, and every other choice that roundings can make of them.
std::vector<Choice> choices(std::vector<Ranked> of, I64 n) {
  sort(of);
  const Ranked last = of[static_cast<std::size_t>(n - 1)], next = of[static_cast<std::size_t>(n)];
  Choice exact, sure, open;
  for (I64 i = 0; i < static_cast<I64>(of.size()); ++i) {
    const Ranked& r = of[static_cast<std::size_t>(i)];
    if (i < n)
      exact.push_back(r.index);
    if (contested(last, next) && contested(r, i < n ? next : last))
      open.push_back(r.index);
    else if (i < n)
      sure.push_back(r.index);
  }
  std::vector<Choice> out{exact};
  const std::size_t count = open.size(), take = static_cast<std::size_t>(n) - sure.size();
  if (count > 8)
    return out;
  for (unsigned set = 0; set < 1U << count; ++set) {
    // The lowest bits are the greatest scores: that choice is there already.
    if (static_cast<std::size_t>(std::popcount(set)) != take || set == (1U << take) - 1)
      continue;
    Choice other = sure;
    for (std::size_t i = 0; i < count; ++i)
      if (set >> i & 1)
        other.push_back(open[i]);
    out.push_back(std::move(other));
  }
  return out;
}

struct Scores {
  double s[experts], b[experts], size[experts];
  Scores(const float* logits, const std::uint16_t* bias) {
    for (I64 e = 0; e < experts; ++e) {
      s[e] = 1 / (1 + std::exp(-static_cast<double>(logits[e])));
      b[e] = s[e] + value(bias[e]);
      size[e] = 2 * s[e] + std::fabs(value(bias[e]));
    }
  }
  [[nodiscard]] std::vector<Ranked> of_group(I64 g) const {
    std::vector<Ranked> out;
    for (I64 e = g * group_size; e < (g + 1) * group_size; ++e)
      out.push_back({b[e], size[e], e});
    return out;
  }
  [[nodiscard]] std::vector<Ranked> of_groups() const {
    std::vector<Ranked> out;
    for (I64 g = 0; g < groups; ++g) {
      std::vector<Ranked> in = of_group(g);
      sort(in);
      out.push_back({in[0].score + in[1].score, in[0].size + in[1].size, g});
    }
    return out;
  }
  [[nodiscard]] std::vector<Ranked> of_experts(const Choice& kept) const {
    std::vector<Ranked> out;
    for (const I64 g : kept)
      for (const Ranked& r : of_group(g))
        out.push_back(r);
    return out;
  }
};

using Weights = std::vector<std::pair<I64, double>>; // expert of this rank, weight
/// The choices that are right for a token, the exact one first.
std::vector<Weights> route(const Scores& scores, I64 offset, double scale) {
  std::vector<Weights> out;
  for (const Choice& kept : choices(scores.of_groups(), kept_groups))
    for (const Choice& set : choices(scores.of_experts(kept), chosen)) {
      double sum = 1e-20;
      for (const I64 e : set)
        sum += scores.s[e];
      Weights weights;
      for (const I64 e : set)
        if (e >= offset && e < offset + local)
          weights.push_back({e - offset, scale * scores.s[e] / sum});
      out.push_back(std::move(weights));
    }
  return out;
}

// ---- near-ties ----
struct Random { // SplitMix64
  std::uint64_t state;
  std::uint64_t operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
};
/// Makes the biased score of expert e `wanted`, as near as fp32 comes; not where no logit does.
void aim(float* logits, const std::uint16_t* bias, I64 e, double wanted) {
  const double s = wanted - value(bias[e]);
  if (s > 0x1p-10 && s < 1 - 0x1p-10)
    logits[e] = static_cast<float>(std::log(s / (1 - s)));
}
/// The first expert left out comes as near to the last one taken, or the first group left out to
/// the last one kept: by 2^-8 to 2^-22 to either side, or not apart at all. A quarter stays.
void bring_near(float* logits, const std::uint16_t* bias, Random& random) {
  const std::uint64_t word = random();
  const double apart = (word >> 8) % 16 == 15
                           ? 0
                           : std::ldexp(1, -8 - static_cast<int>((word >> 8) % 15)),
               off = word >> 16 & 1 ? apart : -apart;
  const Scores scores(logits, bias);
  std::vector<Ranked> of_groups = scores.of_groups();
  sort(of_groups);
  if (word % 4 == 0)
    return;
  if (word % 4 == 1) {
    std::vector<Ranked> first_out = scores.of_group(of_groups[kept_groups].index);
    sort(first_out);
    aim(logits, bias, first_out[1].index,
        of_groups[kept_groups - 1].score - off - first_out[0].score);
    return;
  }
  Choice kept;
  for (std::size_t g = 0; g < kept_groups; ++g)
    kept.push_back(of_groups[g].index);
  std::vector<Ranked> candidates = scores.of_experts(kept);
  sort(candidates);
  aim(logits, bias, candidates[chosen].index, candidates[chosen - 1].score - off);
}

// ---- products ----
struct Sums {
  double y, size;
};
/// One block of a product of a row of weights and a row of activations.
Sums dot(const double* x, const double* w) {
  constexpr I64 lanes = 32;
  double y[lanes] = {}, size[lanes] = {};
  for (I64 k = 0; k < block_size; k += lanes)
    for (I64 l = 0; l < lanes; ++l) {
      const double term = x[k + l] * w[k + l];
      y[l] += term;
      size[l] += std::fabs(term);
    }
  Sums out{};
  for (I64 l = 0; l < lanes; ++l)
    out.y += y[l], out.size += size[l];
  return out;
}
double squares(const double* x, const double* w) {
  constexpr I64 lanes = 32;
  double y[lanes] = {}, out = 0;
  for (I64 k = 0; k < block_size; k += lanes)
    for (I64 l = 0; l < lanes; ++l)
      y[l] += x[k + l] * x[k + l] * (w[k + l] * w[k + l]);
  for (const double v : y)
    out += v;
  return out;
}

template <class F> void parallel(I64 count, F f) {
  kw_parallel_for(count, [](void* context, std::int64_t i) { (*static_cast<F*>(context))(i); }, &f);
}

struct Scaled { // weights with a scale per 128 x 128
  const std::uint8_t* w;
  const float* scale;
  I64 columns;
  [[nodiscard]] double scale_of(I64 row, I64 b) const {
    return static_cast<double>(scale[row / block_size * (columns / block_size) + b]);
  }
  void row(I64 r, double* to) const { widen(w + r * columns, columns, to); }
};

/// Activations of the tokens that an expert has, without their scales.
struct Batch {
  std::vector<I64> at;                     // places among the rows asked for
  std::vector<std::vector<double>> weight; // of each, per choice
  std::vector<double> x, scale;            // [n, hidden], [n, hidden_blocks]
  std::vector<double> c, c_error;          // [n, inner]
};

void up(const Scaled& w1, Batch& batch) {
  const auto n = static_cast<I64>(batch.at.size());
  parallel(inner, [&](I64 j) {
    std::vector<double> row(hidden);
    std::vector<Sums> g(static_cast<std::size_t>(2 * n));
    for (const I64 half : {I64{0}, I64{1}}) {
      w1.row(half * inner + j, row.data());
      for (I64 t = 0; t < n; ++t)
        for (I64 b = 0; b < hidden_blocks; ++b) {
          const Sums part =
              dot(batch.x.data() + t * hidden + b * block_size, row.data() + b * block_size);
          const double scale = batch.scale[static_cast<std::size_t>(t * hidden_blocks + b)] *
                               w1.scale_of(half * inner + j, b);
          Sums& to = g[static_cast<std::size_t>(2 * t + half)];
          to.y += scale * part.y, to.size += std::fabs(scale) * part.size;
        }
    }
    for (I64 t = 0; t < n; ++t) {
      const Sums linear = g[static_cast<std::size_t>(2 * t)],
                 gate = g[static_cast<std::size_t>(2 * t + 1)];
      const double sigmoid = 1 / (1 + std::exp(-gate.y)), silu = gate.y * sigmoid;
      const double slope = sigmoid * (1 + gate.y * (1 - sigmoid)), c = linear.y * silu;
      const auto to = static_cast<std::size_t>(t * inner + j);
      batch.c[to] = c;
      batch.c_error[to] = std::fabs(silu) * linear.size + std::fabs(linear.y * slope) * gate.size +
                          8 * std::fabs(c) +
                          0x1p-100 * std::fabs(linear.y) * (1 + std::fabs(gate.y));
    }
  });
}

/// Calls add(token of the batch, place among cols, O, magnitude).
template <class Add>
void down(const Scaled& w2, const Batch& batch, const I64* cols, I64 ncols, const Add& add) {
  const auto n = static_cast<I64>(batch.at.size());
  parallel(ncols, [&](I64 place) {
    const I64 i = pick(cols, place);
    double row[inner];
    w2.row(i, row);
    for (I64 t = 0; t < n; ++t) {
      double y = 0, size = 0, variance = 0;
      for (I64 b = 0; b < inner_blocks; ++b) {
        const double scale = w2.scale_of(i, b);
        const Sums part = dot(batch.c.data() + t * inner + b * block_size, row + b * block_size);
        y += scale * part.y, size += std::fabs(scale) * part.size;
        variance +=
            scale * scale *
            squares(batch.c_error.data() + t * inner + b * block_size, row + b * block_size);
      }
      add(t, place, y, size + 2 * std::sqrt(variance));
    }
  });
}

/// Inputs, shapes as in the definition.
struct Inputs {
  const float* logits;
  const std::uint16_t* bias;
  const std::uint8_t* states;
  const float* states_scale;
  const std::uint8_t* w1;
  const float* w1_scale;
  const std::uint8_t* w2;
  const float* w2_scale;
  I64 offset;
  double scale;
  I64 tokens;
};

/// Answers of the choices beside the exact one, [choices - 1, columns].
struct Others {
  std::vector<double> y, s;
};
using Routes = std::vector<std::vector<Weights>>;
/// The rows that expert e has in any of their choices.
Batch gather(const Inputs& in, const I64* rows, const Routes& routes, I64 e) {
  Batch batch;
  for (std::size_t at = 0; at < routes.size(); ++at) {
    std::vector<double> of;
    bool any = false;
    for (const Weights& choice : routes[at]) {
      of.push_back(0);
      for (const auto& [expert, w] : choice)
        if (expert == e)
          of.back() = w, any = true;
    }
    if (any)
      batch.at.push_back(static_cast<I64>(at)), batch.weight.push_back(std::move(of));
  }
  const std::size_t n = batch.at.size();
  batch.x.resize(n * hidden), batch.scale.resize(n * hidden_blocks);
  batch.c.resize(n * inner), batch.c_error.resize(n * inner);
  for (std::size_t i = 0; i < n; ++i) {
    const I64 t = pick(rows, batch.at[i]);
    widen(in.states + t * hidden, hidden, batch.x.data() + i * hidden);
    for (I64 b = 0; b < hidden_blocks; ++b)
      batch.scale[i * hidden_blocks + static_cast<std::size_t>(b)] =
          static_cast<double>(in.states_scale[b * in.tokens + t]);
  }
  return batch;
}

/// y, s [nrows, ncols]; a null list means all rows or columns.
void evaluate(const Inputs& in, const I64* rows, I64 nrows, const I64* cols, I64 ncols, double* y,
              double* s) {
  Routes routes(static_cast<std::size_t>(nrows));
  std::vector<Others> others(routes.size());
  for (std::size_t at = 0; at < routes.size(); ++at) {
    const I64 t = pick(rows, static_cast<I64>(at));
    routes[at] = route(Scores(in.logits + t * experts, in.bias), in.offset, in.scale);
    others[at].y.assign((routes[at].size() - 1) * static_cast<std::size_t>(ncols), 0.0);
    others[at].s = others[at].y;
  }
  std::fill_n(y, nrows * ncols, 0.0);
  std::fill_n(s, nrows * ncols, floor_s);
  for (I64 e = 0; e < local; ++e) {
    Batch batch = gather(in, rows, routes, e);
    if (batch.at.empty())
      continue;
    up({in.w1 + e * 2 * inner * hidden, in.w1_scale + e * gate_blocks * hidden_blocks, hidden},
       batch);
    down({in.w2 + e * hidden * inner, in.w2_scale + e * hidden_blocks * inner_blocks, inner}, batch,
         cols, ncols, [&](I64 of, I64 i, double o, double size) {
           const I64 at = batch.at[static_cast<std::size_t>(of)];
           const std::vector<double>& w = batch.weight[static_cast<std::size_t>(of)];
           const double unit = size + 16 * std::fabs(o);
           y[at * ncols + i] += w[0] * o;
           s[at * ncols + i] += std::fabs(w[0]) * unit;
           Others& other = others[static_cast<std::size_t>(at)];
           for (std::size_t c = 1; c < w.size(); ++c) {
             const std::size_t to =
                 (c - 1) * static_cast<std::size_t>(ncols) + static_cast<std::size_t>(i);
             other.y[to] += w[c] * o;
             other.s[to] += std::fabs(w[c]) * unit;
           }
         });
  }
  for (I64 at = 0; at < nrows; ++at) {
    const Others& other = others[static_cast<std::size_t>(at)];
    for (I64 i = 0; i < ncols; ++i) {
      double& size = s[at * ncols + i];
      double away = 0;
      for (auto c = static_cast<std::size_t>(i); c < other.y.size();
           c += static_cast<std::size_t>(ncols)) {
        away = std::max(away, std::fabs(other.y[c] - y[at * ncols + i]));
        size = std::max(size, floor_s + other.s[c]);
      }
      size += (1 + 0x1p-6) * away / eta_u;
    }
  }
}

} // namespace

extern "C" int oracle(const float* logits, const std::uint16_t* bias, const std::uint8_t* states,
                      const float* states_scale, const std::uint8_t* w1, const float* w1_scale,
                      const std::uint8_t* w2, const float* w2_scale, std::int32_t offset,
                      float scale, double* y, double* s, I64 tokens) {
  evaluate({logits, bias, states, states_scale, w1, w1_scale, w2, w2_scale, offset,
            static_cast<double>(scale), tokens},
           nullptr, tokens, nullptr, hidden, y, s);
  return 0;
}

extern "C" int block(const float* logits, const std::uint16_t* bias, const std::uint8_t* states,
                     const float* states_scale, const std::uint8_t* w1, const float* w1_scale,
                     const std::uint8_t* w2, const float* w2_scale, std::int32_t offset,
                     float scale, const I64* rows, I64 nrows, const I64* cols, I64 ncols, double* y,
                     double* s, I64 tokens) {
  evaluate({logits, bias, states, states_scale, w1, w1_scale, w2, w2_scale, offset,
            static_cast<double>(scale), tokens},
           rows, nrows, cols, ncols, y, s);
  return 0;
}

extern "C" int near_ties(const float* logits, const std::uint16_t* bias, const std::uint8_t*,
                         const float*, const std::uint8_t*, const float*, const std::uint8_t*,
                         const float*, std::int32_t, float, I64 secret, float* near, I64 tokens) {
  std::copy_n(logits, tokens * experts, near);
  Random random{static_cast<std::uint64_t>(secret)};
  for (I64 t = 0; t < tokens; ++t)
    bring_near(near + t * experts, bias, random);
  return 0;
}
