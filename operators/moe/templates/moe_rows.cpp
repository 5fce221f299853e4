// SPDX-License-Identifier: Apache-2.0
// A mixture of fp8 experts, expert by expert, in vectors of 64 or 32 bytes: a few rows of weights are
// widened and scaled once, and meet all tokens that the expert has while they lie in a near cache. e4m3
// is widened by way of fp16, whose conversion takes subnormals at full speed.
//
//   R  rows of weights at a time
//   T  tokens at a time in registers
//   B  tokens in a block: weights are read once per block
#include "kernwright.h"

#include <immintrin.h>

namespace KW_NAMESPACE {

constexpr int64_t EXPERTS = KW_AXIS_num_experts, LOCAL = KW_AXIS_num_local_experts,
                  HIDDEN = KW_AXIS_hidden_size, INNER = KW_AXIS_intermediate_size, BLOCK = 128;
constexpr int64_t GROUPS = 8, GROUP = EXPERTS / GROUPS, KEPT = 4, CHOSEN = 8;
constexpr int R = KW_P_R, T = KW_P_T;
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

#ifdef __AVX512F__
typedef __m512 vec;
static inline vec zero() { return _mm512_setzero_ps(); }
static inline vec all_of(float x) { return _mm512_set1_ps(x); }
static inline vec load(const float* p) { return _mm512_load_ps(p); }
static inline void store(float* p, vec x) { _mm512_store_ps(p, x); }
static inline vec fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
static inline float total(vec x) { return _mm512_reduce_add_ps(x); }
/// A vector of e4m3 numbers times `scale`. As fp16 bits they are 2^-8 of their value.
static inline vec widen_vec(const uint8_t* p, vec scale) {
  const __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  const __m256i sign = _mm256_slli_epi16(_mm256_and_si256(x, _mm256_set1_epi16(0x80)), 8);
  const __m256i rest = _mm256_slli_epi16(_mm256_and_si256(x, _mm256_set1_epi16(0x7f)), 7);
  return _mm512_mul_ps(_mm512_cvtph_ps(_mm256_or_si256(sign, rest)), scale);
}
#else
typedef __m256 vec;
static inline vec zero() { return _mm256_setzero_ps(); }
static inline vec all_of(float x) { return _mm256_set1_ps(x); }
static inline vec load(const float* p) { return _mm256_load_ps(p); }
static inline void store(float* p, vec x) { _mm256_store_ps(p, x); }
static inline vec fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
static inline float total(vec x) {
  __m128 sum = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
  return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}
static inline vec widen_vec(const uint8_t* p, vec scale) {
  const __m128i x = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  const __m128i sign = _mm_slli_epi16(_mm_and_si128(x, _mm_set1_epi16(0x80)), 8);
  const __m128i rest = _mm_slli_epi16(_mm_and_si128(x, _mm_set1_epi16(0x7f)), 7);
  return _mm256_mul_ps(_mm256_cvtph_ps(_mm_or_si128(sign, rest)), scale);
}
#endif
constexpr int64_t W = sizeof(vec) / sizeof(float);

/// n numbers, the scale of block b at scale[b * stride].
static inline void widen(const uint8_t* from, const float* scale, int64_t stride, int64_t n,
                         float* to) {
  for (int64_t b = 0; b < n / BLOCK; ++b) {
    const vec s = all_of(256.0f * scale[b * stride]);
    for (int64_t i = b * BLOCK; i < (b + 1) * BLOCK; i += W)
      store(to + i, widen_vec(from + i, s));
  }
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
    for (int64_t g = 0; g < GROUPS; ++g)
      for (int64_t e = g * GROUP; kept[g] && e < (g + 1) * GROUP; ++e)
        if (best < 0 || biased[e] > biased[best])
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

/// Products of R rows w [R, n] with N rows x[t].
template <int N>
static inline void dots(const float* w, const float* const* x, int64_t n, float (*out)[T]) {
  vec sum[R][N];
  for (int r = 0; r < R; ++r)
    for (int t = 0; t < N; ++t)
      sum[r][t] = zero();
  for (int64_t k = 0; k < n; k += W) {
    vec v[N];
    for (int t = 0; t < N; ++t)
      v[t] = load(x[t] + k);
    for (int r = 0; r < R; ++r) {
      const vec row = load(w + r * n + k);
      for (int t = 0; t < N; ++t)
        sum[r][t] = fma(row, v[t], sum[r][t]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int t = 0; t < N; ++t)
      out[r][t] = total(sum[r][t]);
}
/// The same with `count` tokens of x [.., n]; done(row, token, product).
template <class Done>
static inline void all(const float* w, const float* x, const int32_t* rows, int64_t count,
                       int64_t n, const Done& done) {
  for (int64_t t = 0; t < count;) {
    const int many = count - t >= T ? T : 1;
    const float* at[T];
    float out[R][T];
    for (int i = 0; i < many; ++i)
      at[i] = x + (rows ? rows[t + i] : t + i) * n;
    if (many == T)
      dots<T>(w, at, n, out);
    else
      dots<1>(w, at, n, out);
    for (int r = 0; r < R; ++r)
      for (int i = 0; i < many; ++i)
        done(r, t + i, out[r][i]);
    t += many;
  }
}

struct Work {
  alignas(64) float x[B * HIDDEN];
  alignas(64) float y[B * HIDDEN];
  alignas(64) float c[B * INNER];
  alignas(64) float w[2 * R * HIDDEN];
  float linear[R * B];
  int32_t tokens[B];
  float weight[B];
};

struct Expert {
  const uint8_t* w1;
  const float* s1;
  const uint8_t* w2;
  const float* s2;
};

static inline void one_expert(const Expert& e, Work& work, int64_t count) {
  constexpr int64_t HB = HIDDEN / BLOCK, IB = INNER / BLOCK;
  for (int64_t j = 0; j < INNER; j += R) {
    for (int half = 0; half < 2; ++half)
      for (int r = 0; r < R; ++r) {
        const int64_t row = half * INNER + j + r;
        widen(e.w1 + row * HIDDEN, e.s1 + row / BLOCK * HB, 1, HIDDEN,
              work.w + (half * R + r) * HIDDEN);
      }
    all(work.w, work.x, work.tokens, count, HIDDEN,
        [&](int r, int64_t t, float v) { work.linear[r * B + t] = v; });
    all(work.w + R * HIDDEN, work.x, work.tokens, count, HIDDEN, [&](int r, int64_t t, float gate) {
      work.c[t * INNER + j + r] = work.linear[r * B + t] * gate * sigmoid(gate);
    });
  }
  for (int64_t i = 0; i < HIDDEN; i += R) {
    for (int r = 0; r < R; ++r)
      widen(e.w2 + (i + r) * INNER, e.s2 + (i + r) / BLOCK * IB, 1, INNER, work.w + r * INNER);
    all(work.w, work.c, nullptr, count, INNER, [&](int r, int64_t t, float v) {
      work.y[work.tokens[t] * HIDDEN + i + r] += work.weight[t] * v;
    });
  }
}

static int KW_ENTRY(const float* logits, const uint16_t* bias, const uint8_t* states,
                    const float* states_scale, const uint8_t* w1, const float* w1_scale,
                    const uint8_t* w2, const float* w2_scale, int32_t offset, float scale,
                    uint16_t* output, int64_t tokens) {
  constexpr int64_t S1 = 2 * INNER / BLOCK * (HIDDEN / BLOCK),
                    S2 = HIDDEN / BLOCK * (INNER / BLOCK);
  auto* work = static_cast<Work*>(kw_workspace(sizeof(Work)));
  if (!work)
    return 1;
  for (int64_t first = 0; first < tokens; first += B) {
    const int64_t n = tokens - first < B ? tokens - first : B;
    Chosen to[B];
    for (int64_t t = 0; t < n; ++t) {
      to[t] = route(logits + (first + t) * EXPERTS, bias, scale);
      widen(states + (first + t) * HIDDEN, states_scale + first + t, tokens, HIDDEN,
            work->x + t * HIDDEN);
    }
    for (int64_t i = 0; i < n * HIDDEN; ++i)
      work->y[i] = 0;
    for (int64_t e = 0; e < LOCAL; ++e) {
      int64_t count = 0;
      for (int64_t t = 0; t < n; ++t)
        for (int64_t k = 0; k < CHOSEN; ++k)
          if (to[t].expert[k] == e + offset) {
            work->tokens[count] = static_cast<int32_t>(t);
            work->weight[count++] = to[t].weight[k];
          }
      if (count > 0)
        one_expert({w1 + e * 2 * INNER * HIDDEN, w1_scale + e * S1, w2 + e * HIDDEN * INNER,
                    w2_scale + e * S2},
                   *work, count);
    }
    for (int64_t i = 0; i < n * HIDDEN; ++i)
      output[first * HIDDEN + i] = narrow(work->y[i]);
  }
  return 0;
}

} // namespace KW_NAMESPACE
