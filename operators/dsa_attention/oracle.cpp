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
#include "kernwright.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace {

constexpr std::int64_t H = KW_AXIS_num_qo_heads, C = KW_AXIS_head_dim_ckv, P = KW_AXIS_head_dim_kpe,
                       topk = KW_AXIS_topk;
constexpr double floor_s = 0x1p-102, log_2 = 0.69314718055994530942;

using Lanes = double __attribute__((vector_size(64)));
using Floats = float __attribute__((vector_size(32)));
using Words = std::uint32_t __attribute__((vector_size(32)));
using Halves = std::uint16_t __attribute__((vector_size(16)));
constexpr std::int64_t W = 8;
static_assert(C % W == 0 && P % W == 0);

Lanes widen(const std::uint16_t* p) { // bf16 is the upper half of a float
  Halves h;
  std::memcpy(&h, p, sizeof h);
  return __builtin_convertvector(reinterpret_cast<Floats>(__builtin_convertvector(h, Words) << 16),
                                 Lanes);
}
Lanes absolute(Lanes v) {
  return v < 0 ? -v : v;
}
double sum(Lanes v) {
  double s = 0;
  for (std::int64_t l = 0; l < W; ++l)
    s += v[l];
  return s;
}

struct Entry {
  const std::uint16_t *v, *p; ///< [C], [P]
  double logit, error;        ///< l_j; E_j, then R_j
  double e, w;
};

template <std::int64_t N>
void product(const Lanes* q, const std::uint16_t* k, Lanes& dot, Lanes& size) {
  for (std::int64_t i = 0; i < N / W; ++i) {
    const Lanes term = q[i] * widen(k + i * W);
    dot += term;
    size += absolute(term);
  }
}

/// sum_b m_b^2 of the terms e, whose sum is `total`.
double crowding(const std::vector<Entry>& entries, double total) {
  std::vector<std::int64_t> groups;
  groups.reserve(entries.size());
  for (const Entry& x : entries)
    groups.push_back(static_cast<std::int64_t>(x.e * (0x1p24 / total)));
  std::sort(groups.begin(), groups.end());
  double squares = 0;
  for (std::size_t i = 0, next = 0; i < groups.size(); i = next) {
    while (next < groups.size() && groups[next] == groups[i])
      ++next;
    squares += static_cast<double>((next - i) * (next - i));
  }
  return squares;
}

/// One head: q [C], r [P]; `entries` have v and p.
void attend(const std::uint16_t* q, const std::uint16_t* r, double scale,
            std::vector<Entry>& entries, double* out, double* out_s, double* lse, double* lse_s) {
  std::fill_n(out, C, 0.0);
  std::fill_n(out_s, C, floor_s);
  *lse = -std::numeric_limits<double>::infinity(), *lse_s = floor_s;
  if (entries.empty())
    return;
  Lanes query[C / W], rotary[P / W];
  for (std::int64_t i = 0; i < C / W; ++i)
    query[i] = widen(q + i * W);
  for (std::int64_t i = 0; i < P / W; ++i)
    rotary[i] = widen(r + i * W);
  double m = -std::numeric_limits<double>::infinity();
  for (Entry& x : entries) {
    Lanes dot{}, size{};
    product<C>(query, x.v, dot, size);
    product<P>(rotary, x.p, dot, size);
    x.logit = scale * sum(dot);
    x.error = std::fabs(scale) * sum(size) + 3 * std::fabs(x.logit);
    m = std::max(m, x.logit);
  }
  const double exponentials = 2 * (1 + std::log(static_cast<double>(entries.size())));
  double Z = 0, mean_error = 0;
  for (Entry& x : entries) {
    const double t = x.logit - m;
    x.error += exponentials - t;
    x.e = t < -600 ? 0 : std::exp(t); // what is far below fp32 must not become subnormal here
    Z += x.e;
  }
  Lanes y[C / W] = {}, spread[C / W] = {}, any[C / W] = {};
  for (Entry& x : entries) {
    x.w = x.e / Z;
    mean_error += x.w * x.error;
    for (std::int64_t i = 0; i < C / W; ++i) {
      const Lanes v = widen(x.v + i * W), size = absolute(v);
      y[i] += x.w * v;
      spread[i] += 2 * x.w * size;
      any[i] += size;
    }
  }
  const double sum_error = std::fabs(m) + std::log(Z);
  for (const Entry& x : entries) {
    const double moves = x.w * (x.error + sum_error);
    for (std::int64_t i = 0; i < C / W && moves > 0; ++i)
      spread[i] += moves * absolute(widen(x.v + i * W) - y[i]);
  }
  for (std::int64_t i = 0; i < C; ++i) {
    const std::int64_t at = i / W, lane = i % W;
    out[i] = y[at][lane];
    out_s[i] = spread[at][lane] + std::fabs(out[i]) + floor_s * (1 + any[at][lane]);
  }
  *lse = (m + std::log(Z)) / log_2;
  *lse_s = (mean_error + std::sqrt(crowding(entries, Z)) * 3 / 8 + sum_error + 2) / log_2;
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
  parallel(tokens * H, [&](std::int64_t at) {
    std::vector<Entry> entries;
    for (std::int64_t j = at / H * topk; j < (at / H + 1) * topk; ++j)
      if (const std::int64_t slot = sparse_indices[j]; slot >= 0)
        entries.push_back({.v = ckv_cache + slot * C, .p = kpe_cache + slot * P});
    attend(q_nope + at * C, q_pe + at * P, static_cast<double>(sm_scale), entries, out + at * C,
           out_s + at * C, lse + at, lse_s + at);
  });
  return 0;
}
