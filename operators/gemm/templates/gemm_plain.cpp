// SPDX-License-Identifier: Apache-2.0
// C[M,N] = A[M,K] * B[N,K]^T as dot products that the compiler vectorises: MT rows by NT columns share
// the loads of one k loop. No packing, no cache blocking.
//
//   MT NT  rows and columns at a time
//   LANES  independent partial sums of each product
#include "kernwright.h"

namespace KW_NAMESPACE {

#if KW_P_BF16
typedef uint16_t element;
#else
typedef float element;
#endif

constexpr int64_t N = KW_AXIS_N, K = KW_AXIS_K;
constexpr int MT = KW_P_MT, NT = KW_P_NT, LANES = KW_P_LANES;

static inline float widen(float x) { return x; }
static inline float widen(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
static inline void store(float* p, float x) { *p = x; }
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline void store(uint16_t* p, float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  *p = static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

struct Call {
  const element *a, *b;
  element* c;
  int64_t m;
};

template <int ROWS, int COLUMNS>
static inline void tile(const Call& s, int64_t i, int64_t j) {
  float sum[ROWS][COLUMNS][LANES] = {};
  for (int64_t k = 0; k + LANES <= K; k += LANES)
    for (int r = 0; r < ROWS; ++r)
      for (int c = 0; c < COLUMNS; ++c)
        for (int l = 0; l < LANES; ++l)
          sum[r][c][l] += widen(s.a[(i + r) * K + k + l]) * widen(s.b[(j + c) * K + k + l]);
  for (int r = 0; r < ROWS; ++r)
    for (int c = 0; c < COLUMNS; ++c) {
      float total = 0;
      for (int l = 0; l < LANES; ++l)
        total += sum[r][c][l];
      for (int64_t k = K / LANES * LANES; k < K; ++k)
        total += widen(s.a[(i + r) * K + k]) * widen(s.b[(j + c) * K + k]);
      store(s.c + (i + r) * N + j + c, total);
    }
}

static void columns(void* context, int64_t task) {
  const Call& s = *static_cast<Call*>(context);
  const int64_t first = task * 64, end = first + 64 < N ? first + 64 : N;
  for (int64_t i = 0; i < s.m;) {
    const bool full = i + MT <= s.m;
    int64_t j = first;
    for (; j + NT <= end; j += NT)
      if (full)
        tile<MT, NT>(s, i, j);
      else
        tile<1, NT>(s, i, j);
    for (; j < end; ++j)
      if (full)
        tile<MT, 1>(s, i, j);
      else
        tile<1, 1>(s, i, j);
    i += full ? MT : 1;
  }
}

static int KW_ENTRY(const element* a, const element* b, element* c, int64_t m) {
  Call s = {a, b, c, m};
  kw_parallel_for((N + 63) / 64, columns, &s);
  return 0;
}

} // namespace KW_NAMESPACE
