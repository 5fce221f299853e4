// SPDX-License-Identifier: Apache-2.0
// Sparse attention in one sweep over the chosen entries, a block at a time with online softmax:
// logits of the block as a small product, its weights, the sums of the values brought up to date.
// Every entry is gathered once for all heads of a task. Logits are in base 2: 2^t needs no
// reduction by ln 2.
//
//   W       floats in a vector: 16 or 8
//   BS      entries in a block; as many as there are at most: two passes instead of online softmax
//   HT, ST  tile of logits in registers: heads by entries
//   HV, DV  tile of sums in registers: heads by vectors of the value
//   G       heads of a task
//   AHEAD   entries ahead that are fetched, 0 = none
//   DEGREE  of the polynomial for 2^t: 5 (3.6 units of 2^-24) or 6 (1.3)
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int W = KW_P_W, HT = KW_P_HT, ST = KW_P_ST, HV = KW_P_HV, DV = KW_P_DV;
constexpr int64_t H = KW_AXIS_num_qo_heads, C = KW_AXIS_head_dim_ckv, P = KW_AXIS_head_dim_kpe,
                  TOPK = KW_AXIS_topk, G = KW_P_G, AHEAD = KW_P_AHEAD;
constexpr int64_t BS = KW_P_BS < TOPK ? KW_P_BS : TOPK; // a multiple of W and, rounded up, of ST
constexpr int64_t ROOM = (BS + ST - 1) / ST * ST;
constexpr float LOG2_E = 1.44269504f, NOTHING = -__builtin_huge_valf();
static_assert(C % (W * DV) == 0 && P % W == 0 && BS % W == 0 && G % HT == 0 && G % HV == 0 &&
                  H % G == 0,
              "whole tiles");

typedef float v4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));
typedef float vw __attribute__((vector_size(4 * W)));
typedef float vwu __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef unsigned vwi __attribute__((vector_size(4 * W)));
typedef uint16_t vwh __attribute__((vector_size(2 * W)));
typedef uint16_t vwhu __attribute__((vector_size(2 * W), aligned(2), may_alias));

static inline vw splat(float x) {
  return x - vw{};
}
static inline vw load(const float* p) {
  return *reinterpret_cast<const vwu*>(p);
}
static inline void store(float* p, vw x) {
  *reinterpret_cast<vwu*>(p) = x;
}
static inline vw widen(const uint16_t* p) {
  const vwh bits = *reinterpret_cast<const vwhu*>(p);
  return vw(__builtin_convertvector(bits, vwi) << 16);
}
static inline float widen1(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline uint16_t narrow(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static inline v8 halves(v8 x) {
  return x;
}
#if KW_P_W == 16
static inline v8 halves(vw x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
         __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
}
#endif
static inline float total(vw x) {
  const v8 half = halves(x);
  const v4 quarter = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
                     __builtin_shufflevector(half, half, 4, 5, 6, 7);
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

/// 2^t for t <= 0; what is below 2^-126 comes out as 2^-126.
static inline vw power(vw t) {
  t = t > splat(-126.0f) ? t : splat(-126.0f);
  const vw shifted = t + splat(0x1.8p23f), n = shifted - splat(0x1.8p23f), r = t - n;
#if KW_P_DEGREE == 5
  vw p = r * 0.00132764713f + 0.00967554096f;
  p = p * r + 0.0555071309f;
  p = p * r + 0.240221202f;
  p = p * r + 0.693146944f;
  p = p * r + 1.00000012f;
#else
  vw p = r * 0.00015345811f + 0.00133999309f;
  p = p * r + 0.00961848907f;
  p = p * r + 0.0555032864f;
  p = p * r + 0.240226462f;
  p = p * r + 0.693147182f;
  p = p * r + 1.0f;
#endif
  return vw(vwi(p) + (vwi(shifted) << 23)); // times 2^n; the low bits of `shifted` are n
}

struct Call {
  const uint16_t *q_nope, *q_pe, *ckv, *kpe;
  const int32_t* indices;
  float scale;
  uint16_t* output;
  float* lse;
};

struct Task {
  float query[G][C + P]; ///< times scale log2 e
  float weight[G][ROOM]; ///< of the block: logits, then their powers
  float sums[G][C];      ///< of weights times values
  float top[G], mass[G]; ///< largest logit, sum of weights
  float fades[G];        ///< what a new largest logit leaves of older sums
  int32_t slot[TOPK];
};

static inline void fetch(const Call& c, int64_t slot) {
  for (int64_t i = 0; i < C; i += 32)
    __builtin_prefetch(c.ckv + slot * C + i);
  for (int64_t i = 0; i < P; i += 32)
    __builtin_prefetch(c.kpe + slot * P + i);
}

/// Logits of `count` entries from the one at `first` on, of `entries` in all.
static inline void logits(const Call& c, Task& task, int64_t first, int64_t count,
                          int64_t entries) {
  for (int64_t s = 0; s < count; s += ST) {
    const uint16_t *value[ST], *rotary[ST];
    for (int j = 0; j < ST; ++j) {
      // Behind the last entry of the block it is taken again, and its logit not looked at.
      const int64_t at = first + (s + j < count ? s + j : count - 1), slot = task.slot[at];
      value[j] = c.ckv + slot * C;
      rotary[j] = c.kpe + slot * P;
      if (AHEAD > 0 && at + AHEAD < entries)
        fetch(c, task.slot[at + AHEAD]);
    }
    for (int64_t h = 0; h < G; h += HT) {
      vw sum[HT][ST] = {};
      for (int64_t i = 0; i < C; i += W)
#pragma GCC unroll 8
        for (int j = 0; j < ST; ++j) {
          const vw key = widen(value[j] + i);
#pragma GCC unroll 8
          for (int k = 0; k < HT; ++k)
            sum[k][j] += key * load(task.query[h + k] + i);
        }
      for (int64_t i = 0; i < P; i += W)
#pragma GCC unroll 8
        for (int j = 0; j < ST; ++j) {
          const vw key = widen(rotary[j] + i);
#pragma GCC unroll 8
          for (int k = 0; k < HT; ++k)
            sum[k][j] += key * load(task.query[h + k] + C + i);
        }
#pragma GCC unroll 8
      for (int k = 0; k < HT; ++k)
#pragma GCC unroll 8
        for (int j = 0; j < ST; ++j)
          task.weight[h + k][s + j] = total(sum[k][j]);
    }
  }
}

/// Logits to weights; top, mass and fades follow.
static inline void weigh(Task& task, int64_t h, int64_t count) {
  float* weight = task.weight[h];
  float top = task.top[h];
  for (int64_t j = 0; j < count; ++j)
    top = weight[j] > top ? weight[j] : top;
  vw sum = {};
  for (int64_t j = 0; j < count; j += W) {
    vw part = power(load(weight + j) - splat(top));
    for (int l = 0; l < W; ++l)
      part[l] = j + l < count ? part[l] : 0.0f;
    store(weight + j, part);
    sum += part;
  }
  // One exactly where nothing rose: 2^0 of degree 5 is not, and would add up from block to block.
  const float before = task.top[h];
  task.fades[h] = before == top ? 1.0f : before == NOTHING ? 0.0f : power(splat(before - top))[0];
  task.top[h] = top;
  task.mass[h] = task.mass[h] * task.fades[h] + total(sum);
}

static inline void gather(const Call& c, Task& task, int64_t first, int64_t count) {
  for (int64_t d = 0; d < C; d += W * DV)
    for (int64_t h = 0; h < G; h += HV) {
      vw sum[HV][DV];
#pragma GCC unroll 8
      for (int k = 0; k < HV; ++k)
#pragma GCC unroll 8
        for (int i = 0; i < DV; ++i)
          sum[k][i] = load(task.sums[h + k] + d + W * i) * splat(task.fades[h + k]);
      for (int64_t s = 0; s < count; ++s) {
        const uint16_t* value = c.ckv + static_cast<int64_t>(task.slot[first + s]) * C + d;
        vw part[DV];
#pragma GCC unroll 8
        for (int i = 0; i < DV; ++i)
          part[i] = widen(value + W * i);
#pragma GCC unroll 8
        for (int k = 0; k < HV; ++k) {
          const vw weight = splat(task.weight[h + k][s]);
#pragma GCC unroll 8
          for (int i = 0; i < DV; ++i)
            sum[k][i] += weight * part[i];
        }
      }
#pragma GCC unroll 8
      for (int k = 0; k < HV; ++k)
#pragma GCC unroll 8
        for (int i = 0; i < DV; ++i)
          store(task.sums[h + k] + d + W * i, sum[k][i]);
    }
}

static void attend(void* context, int64_t index) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t t = index / (H / G), head = t * H + index % (H / G) * G;
  Task task;
  int64_t entries = 0;
  for (int64_t j = 0; j < TOPK; ++j)
    if (c.indices[t * TOPK + j] >= 0)
      task.slot[entries++] = c.indices[t * TOPK + j];
  const float factor = c.scale * LOG2_E;
  for (int64_t h = 0; h < G; ++h) {
    for (int64_t i = 0; i < C; ++i) {
      task.query[h][i] = factor * widen1(c.q_nope[(head + h) * C + i]);
      task.sums[h][i] = 0;
    }
    for (int64_t i = 0; i < P; ++i)
      task.query[h][C + i] = factor * widen1(c.q_pe[(head + h) * P + i]);
    task.top[h] = NOTHING, task.mass[h] = 0;
    for (int64_t j = 0; j < ROOM; ++j)
      task.weight[h][j] = 0;
  }
  for (int64_t first = 0; first < entries; first += BS) {
    const int64_t count = entries - first < BS ? entries - first : BS;
    logits(c, task, first, count, entries);
    for (int64_t h = 0; h < G; ++h)
      weigh(task, h, count);
    gather(c, task, first, count);
  }
  for (int64_t h = 0; h < G; ++h) {
    const float part = entries > 0 ? 1.0f / task.mass[h] : 0.0f;
    for (int64_t i = 0; i < C; ++i)
      c.output[(head + h) * C + i] = narrow(task.sums[h][i] * part);
    c.lse[head + h] = entries > 0 ? task.top[h] + LOG2_E * __builtin_logf(task.mass[h]) : NOTHING;
  }
}

static int KW_ENTRY(const uint16_t* q_nope, const uint16_t* q_pe, const uint16_t* ckv,
                    const uint16_t* kpe, const int32_t* indices, float scale, uint16_t* output,
                    float* lse, int64_t tokens, int64_t) {
  Call c = {q_nope, q_pe, ckv, kpe, indices, scale, output, lse};
  kw_parallel_for(tokens * (H / G), attend, &c);
  return 0;
}

} // namespace KW_NAMESPACE
