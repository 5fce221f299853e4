// SPDX-License-Identifier: Apache-2.0
// Sparse attention in fp64, per token and head. With v_j, p_j the halves ckv and kpe of the n
// entries that the row of indices names, and q, r those of the query:
//
//   l_j = scale (q v_j + r p_j),  m = max l_j,  e_j = exp(l_j - m),  Z = sum e_j,  w_j = e_j / Z
//   out = sum w_j v_j,  lse = (m + log Z) / log 2;   n = 0: out = 0, lse = -inf
//
// Magnitudes: first-order errors of any fp32 evaluation in units of u = 2^-24.
//   l_j    products of bf16 are exact; their sum, the scale, a change to base 2:
//            E_j = |scale| (sum |q v_j| + sum |r p_j|) + 3 |l_j|
//   e_j    relative: exp passes an absolute error of its argument on; the subtraction; exp itself,
//          and once more for each time that an online softmax sees the maximum rise, log n times in
//          random order. m need only be the same everywhere: its own error does not count.
//            R_j = E_j + |l_j - m| + 2 (1 + log n)
//   out    a relative error of e_j moves out by w_j (v_j - out); parts that are merged by their lse
//          carry the rounding of that, |m| + log Z. Products, their sum (running sums are about as
//          large as its terms), the division:
//            S = sum_j w_j ((R_j + |m| + log Z) |v_j - out| + 2 |v_j|) + |out|
//          Terms of one sign that agree to an ulp (K below) err by up to 2^-14 |out|: next to
//          nothing beside 2^-8 |out|, the rounding of out to bf16, which is counted apart.
//   Z      relative: the mean of R_j, and its sum: K counts terms that err alike as in
//          operators/softmax, K = sqrt(sum_b m_b^2) with m_b terms in the group b of those with the
//          same floor(e / (2^-24 Z))
//   lse      S = (sum_j w_j R_j + 3/8 K + |m| + log Z + 2) / log 2
// A kernel may flush each e_j below 2^-126: a floor of 2^-102 (times u) per unit of |v_j|.
//
// Values are doubles throughout. Magnitudes are summed in floats, since half of the work is theirs.
#include "kernwright.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace {

constexpr std::int64_t H = KW_AXIS_num_qo_heads, C = KW_AXIS_head_dim_ckv, P = KW_AXIS_head_dim_kpe,
                       topk = KW_AXIS_topk;
constexpr double floor_s = 0x1p-102, log_2 = 0.69314718055994530942;

#ifdef __AVX512F__
constexpr std::int64_t vector_bytes = 64;
#else
constexpr std::int64_t vector_bytes = 32;
#endif
using Doubles = double __attribute__((vector_size(vector_bytes)));
using Floats = float __attribute__((vector_size(vector_bytes)));
using FewFloats = float __attribute__((vector_size(vector_bytes / 2))); // as many as Doubles
constexpr std::int64_t W = vector_bytes / 8, F = vector_bytes / 4, L = C + P;
constexpr std::int64_t heads_per_task = 8, together = 4, block = 16;
static_assert(C % (2 * W) == 0 && P % F == 0 && H % heads_per_task == 0);

// Magnitudes are sums of up to 2048 floats of one sign: good to four digits. These keep the largest
// bf16 from overflowing them.
constexpr float down = 0x1p-20f;
constexpr double up = 0x1p20;

template <class V, class T> V load(const T* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
Doubles widened(const float* p) {
  return __builtin_convertvector(load<FewFloats>(p), Doubles);
}
Floats absolute(Floats v) {
  return v < 0 ? -v : v;
}
template <class V> double sum(V v) {
  double s = 0;
  for (std::size_t l = 0; l < sizeof v / sizeof v[0]; ++l)
    s += static_cast<double>(v[l]);
  return s;
}
float value(std::uint16_t bf16) { // bf16 is the upper half of a float
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}
void widen(const std::uint16_t* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = value(from[i]);
}

struct Entry {
  const std::uint16_t *v, *p; ///< [C], [P]
};

/// `block` entries as floats, those behind the last one 0.
struct alignas(64) Block {
  float at[block][L];

  void read(const std::vector<Entry>& entries, std::size_t first) {
    for (std::size_t e = 0; e < block; ++e)
      if (first + e < entries.size()) {
        widen(entries[first + e].v, C, at[e]);
        widen(entries[first + e].p, P, at[e] + C);
      } else
        std::fill_n(at[e], L, 0.0F);
  }
};

struct alignas(64) Head {
  double q[L];     ///< the query, both halves
  float q_size[L]; ///< its magnitudes, times 2^-lift
  int lift = 0;
  double y[C] = {}; ///< sum w_j v_j
  float y_float[C], spread[C] = {};
  std::vector<double> logit, error, w; ///< l_j; E_j, then R_j; e_j, then w_j
  std::vector<float> moves, twice;     ///< w_j (R_j + |m| + log Z), 2 w_j, times `down`
  double m = -std::numeric_limits<double>::infinity(), Z = 0;

  void begin(const std::uint16_t* nope, const std::uint16_t* rope, std::size_t rounded_up) {
    float most = 0, all[L];
    widen(nope, C, all);
    widen(rope, P, all + C);
    for (std::int64_t i = 0; i < L; ++i)
      q[i] = static_cast<double>(all[i]), most = std::max(most, std::fabs(all[i]));
    (void)std::frexp(most, &lift);
    lift += 12;
    for (std::int64_t i = 0; i < L; ++i)
      q_size[i] = std::ldexp(std::fabs(all[i]), -lift);
    for (std::vector<double>* v : {&logit, &error, &w})
      v->assign(rounded_up, 0.0);
    for (std::vector<float>* v : {&moves, &twice})
      v->assign(rounded_up, 0.0F);
  }
};

/// Logits of `together` heads and a block, and E_j.
void logits(Head* heads, const Block& b, std::size_t first, double scale) {
  for (std::size_t e = 0; e < block; e += 2) {
    Doubles dot[together][2] = {};
    for (std::int64_t i = 0; i < L; i += W) {
      const Doubles k[2] = {widened(b.at[e] + i), widened(b.at[e + 1] + i)};
      for (std::int64_t h = 0; h < together; ++h) {
        const auto q = load<Doubles>(heads[h].q + i);
        dot[h][0] += q * k[0], dot[h][1] += q * k[1];
      }
    }
    Floats size[together][2] = {};
    for (std::int64_t i = 0; i < L; i += F) {
      const Floats k[2] = {absolute(load<Floats>(b.at[e] + i)),
                           absolute(load<Floats>(b.at[e + 1] + i))};
      for (std::int64_t h = 0; h < together; ++h) {
        const auto q = load<Floats>(heads[h].q_size + i);
        size[h][0] += q * k[0], size[h][1] += q * k[1];
      }
    }
    for (std::int64_t h = 0; h < together; ++h)
      for (std::size_t x = 0; x < 2; ++x) {
        const double l = scale * sum(dot[h][x]);
        heads[h].logit[first + e + x] = l;
        heads[h].error[first + e + x] =
            std::fabs(scale) * std::ldexp(sum(size[h][x]), heads[h].lift) + 3 * std::fabs(l);
      }
  }
}

/// y += w_j v_j
void weigh(Head* heads, const Block& b, std::size_t first) {
  for (std::int64_t i = 0; i < C; i += 2 * W) {
    Doubles y[together][2];
    for (std::int64_t h = 0; h < together; ++h)
      y[h][0] = load<Doubles>(heads[h].y + i), y[h][1] = load<Doubles>(heads[h].y + i + W);
    for (std::size_t e = 0; e < block; ++e) {
      const Doubles v[2] = {widened(b.at[e] + i), widened(b.at[e] + i + W)};
      for (std::int64_t h = 0; h < together; ++h) {
        const double w = heads[h].w[first + e];
        y[h][0] += w * v[0], y[h][1] += w * v[1];
      }
    }
    for (std::int64_t h = 0; h < together; ++h)
      std::memcpy(heads[h].y + i, y[h], sizeof y[h]);
  }
}

/// spread += moves |v_j - y| + 2 w_j |v_j|
void spread(Head* heads, const Block& b, std::size_t first) {
  for (std::int64_t i = 0; i < C; i += F) {
    Floats y[together], s[together];
    for (std::int64_t h = 0; h < together; ++h)
      y[h] = load<Floats>(heads[h].y_float + i), s[h] = load<Floats>(heads[h].spread + i);
    for (std::size_t e = 0; e < block; ++e) {
      const auto v = load<Floats>(b.at[e] + i);
      const Floats size = absolute(v);
      for (std::int64_t h = 0; h < together; ++h)
        s[h] += heads[h].moves[first + e] * absolute(v - y[h]) + heads[h].twice[first + e] * size;
    }
    for (std::int64_t h = 0; h < together; ++h)
      std::memcpy(heads[h].spread + i, &s[h], sizeof s[h]);
  }
}

/// sum_b m_b^2 of the terms e, whose sum is `total`.
double crowding(const double* e, std::size_t count, double total) {
  constexpr std::uint32_t none = ~0U, places = 8192; // keys are at most 2^24
  static_assert(topk <= places / 2);
  thread_local std::uint32_t key[places], members[places];
  std::fill_n(key, places, none);
  double squares = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const auto group = static_cast<std::uint32_t>(e[j] * (0x1p24 / total));
    std::uint32_t at = group * 2654435761U >> 19;
    while (key[at] != none && key[at] != group)
      at = (at + 1) % places;
    if (key[at] == none)
      key[at] = group, members[at] = 0;
    squares += 2 * members[at]++ + 1; // (m + 1)^2 - m^2
  }
  return squares;
}

/// From logits to weights; what becomes of the lse.
void softmax(Head& x, std::size_t n, double* lse, double* lse_s) {
  for (std::size_t j = 0; j < n; ++j)
    x.m = std::max(x.m, x.logit[j]);
  const double exponentials = 2 * (1 + std::log(static_cast<double>(n)));
  for (std::size_t j = 0; j < n; ++j) {
    const double t = x.logit[j] - x.m;
    x.error[j] += exponentials - t;
    x.w[j] = t < -600 ? 0 : std::exp(t); // what is far below fp32 must not become subnormal here
    x.Z += x.w[j];
  }
  const double crowded = crowding(x.w.data(), n, x.Z), sum_error = std::fabs(x.m) + std::log(x.Z);
  double mean_error = 0;
  const auto small = [](double m) { return m < 0x1p-126 ? 0.0F : static_cast<float>(m) * down; };
  for (std::size_t j = 0; j < n; ++j) {
    x.w[j] /= x.Z;
    mean_error += x.w[j] * x.error[j];
    x.moves[j] = small(x.w[j] * (x.error[j] + sum_error));
    x.twice[j] = small(2 * x.w[j]);
  }
  *lse = (x.m + std::log(x.Z)) / log_2;
  *lse_s = (mean_error + std::sqrt(crowded) * 3 / 8 + sum_error + 2) / log_2;
}

/// `heads_per_task` heads: q [.., C], r [.., P].
void attend(const std::uint16_t* q, const std::uint16_t* r, double scale,
            const std::vector<Entry>& entries, double* out, double* out_s, double* lse,
            double* lse_s) {
  const std::size_t n = entries.size(), rounded_up = (n + block - 1) / block * block;
  if (n == 0) {
    std::fill_n(out, heads_per_task * C, 0.0);
    std::fill_n(out_s, heads_per_task * C, floor_s);
    std::fill_n(lse, heads_per_task, -std::numeric_limits<double>::infinity());
    std::fill_n(lse_s, heads_per_task, floor_s);
    return;
  }
  std::vector<Head> heads(heads_per_task);
  for (std::int64_t h = 0; h < heads_per_task; ++h)
    heads[static_cast<std::size_t>(h)].begin(q + h * C, r + h * P, rounded_up);
  Block b;
  const auto blockwise = [&](auto&& work) {
    for (std::size_t first = 0; first < n; first += block) {
      b.read(entries, first);
      for (std::size_t h = 0; h < heads.size(); h += together)
        work(&heads[h], first);
    }
  };
  blockwise([&](Head* some, std::size_t first) { logits(some, b, first, scale); });
  for (std::int64_t h = 0; h < heads_per_task; ++h)
    softmax(heads[static_cast<std::size_t>(h)], n, lse + h, lse_s + h);
  blockwise([&](Head* some, std::size_t first) { weigh(some, b, first); });
  for (Head& x : heads)
    std::copy_n(x.y, C, x.y_float);
  blockwise([&](Head* some, std::size_t first) { spread(some, b, first); });
  std::vector<double> any(C);
  for (const Entry& x : entries)
    for (std::int64_t i = 0; i < C; ++i)
      any[static_cast<std::size_t>(i)] += static_cast<double>(std::fabs(value(x.v[i])));
  for (const Head& x : heads)
    for (std::int64_t i = 0; i < C; ++i) {
      *out++ = x.y[i];
      *out_s++ = static_cast<double>(x.spread[i]) * up + std::fabs(x.y[i]) +
                 floor_s * (1 + any[static_cast<std::size_t>(i)]);
    }
}

template <class F> void parallel(std::int64_t count, F f) {
  kw_parallel_for(count, [](void* context, std::int64_t i) { (*static_cast<F*>(context))(i); }, &f);
}

} // namespace

// q_nope [T, H, C], q_pe [T, H, P], ckv_cache [pages, page size, C], kpe_cache [pages, page size,
// P], sparse_indices [T, topk]; out, out_s [T, H, C], lse, lse_s [T, H]
extern "C" int oracle(const std::uint16_t* q_nope, const std::uint16_t* q_pe,
                      const std::uint16_t* ckv_cache, const std::uint16_t* kpe_cache,
                      const std::int32_t* sparse_indices, float sm_scale, double* out,
                      double* out_s, double* lse, double* lse_s, std::int64_t tokens,
                      std::int64_t) {
  parallel(tokens * H / heads_per_task, [&](std::int64_t task) {
    const std::int64_t at = task * heads_per_task, token = at / H;
    std::vector<Entry> entries;
    for (std::int64_t j = token * topk; j < (token + 1) * topk; ++j)
      if (const std::int64_t slot = sparse_indices[j]; slot >= 0)
        entries.push_back({.v = ckv_cache + slot * C, .p = kpe_cache + slot * P});
    attend(q_nope + at * C, q_pe + at * P, static_cast<double>(sm_scale), entries, out + at * C,
           out_s + at * C, lse + at, lse_s + at);
  });
  return 0;
}
