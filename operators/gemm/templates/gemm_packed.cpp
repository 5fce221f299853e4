// SPDX-License-Identifier: Apache-2.0
// C[M,N] = A[M,K] * B[N,K]^T for large M: both operands are packed, the inner kernel keeps an
// MR x NV*16 block of C in registers. A block of packed B (NC x KC) is meant to stay in L2 while
// blocks of A (MC x KC) pass; micro-tiles run down the rows of C.
//
// Both operands have k contiguous, so packing transposes 16 x 16 blocks in registers.
// BF16 = 1: operands are widened to fp32 while packing, sums are kept in fp32 and rounded once.
//
//   MR NV     rows and 16-wide vectors of the register tile
//   KC MC NC  block sizes in elements
//   ORDER     nk: columns outside k, A is packed again for every block of columns;
//             kn: k outside columns, A is packed once per block of k into a larger buffer
//   KU        unrolling of the k loop
//   PFC       1: fetch the tile of C before the k loop
//   PFP       panels that packing fetches ahead, 0 = none
#include "kernwright.h"

namespace KW_NAMESPACE {

#if KW_P_BF16
typedef uint16_t element;
#else
typedef float element;
#endif
typedef float v16 __attribute__((vector_size(64)));
typedef float v16u __attribute__((vector_size(64), aligned(4), may_alias));
typedef int v16i __attribute__((vector_size(64)));
typedef unsigned v16w __attribute__((vector_size(64)));
typedef uint16_t v16h __attribute__((vector_size(32)));
typedef uint16_t v16hu __attribute__((vector_size(32), aligned(2), may_alias));

constexpr int64_t N = KW_AXIS_N, K = KW_AXIS_K;
constexpr int MR = KW_P_MR, NV = KW_P_NV, NR = 16 * NV, KU = KW_P_KU;
constexpr int64_t KC = KW_P_KC < K ? KW_P_KC : K;
constexpr int64_t MC = (KW_P_MC + MR - 1) / MR * MR;
constexpr int64_t N_PADDED = (N + NR - 1) / NR * NR;
constexpr int64_t NC0 = (KW_P_NC + NR - 1) / NR * NR, NC = NC0 < N_PADDED ? NC0 : N_PADDED;
constexpr bool K_OUTSIDE = KW_P_ORDER == KW_P_ORDER_kn;
/// Columns of the fp32 partial sums that the workspace holds when C itself is bf16.
constexpr int64_t HELD = K_OUTSIDE ? N_PADDED : NC;
/// Rows of C done at a time: bounds the partial sums and the packed A to 24 MiB each.
constexpr int64_t ROWS0 = (24 * 1024 * 1024 / 4) / (KW_P_BF16 && HELD > KC ? HELD : KC) / MC * MC;
constexpr int64_t ROWS = ROWS0 > 0 ? ROWS0 : MC;

static inline v16 load(const float* p) { return *reinterpret_cast<const v16u*>(p); }
static inline v16 load(const uint16_t* p) {
  const v16h bits = *reinterpret_cast<const v16hu*>(p);
  return v16(__builtin_convertvector(bits, v16w) << 16);
}
static inline unsigned short lanes(int64_t count) {
  return count >= 16 ? 0xffff : count <= 0 ? 0 : static_cast<unsigned short>((1u << count) - 1);
}
static inline float widen(float x) { return x; }
static inline float widen(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}

/// Round to nearest even; NaN stays NaN.
static inline v16h narrow(v16 x) {
  const v16w bits = v16w(x);
  const v16w rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const v16w quiet = (bits >> 16) | 0x40u;
  return __builtin_convertvector(x == x ? rounded : quiet, v16h);
}

/// Transposes in place: afterwards r[i][j] is the former r[j][i].
static inline void transpose16(v16 (&r)[16]) {
  v16 t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = __builtin_shuffle(r[i], r[i + 1], v16i{0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29});
    t[i + 1] = __builtin_shuffle(r[i], r[i + 1], v16i{2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31});
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    constexpr v16i low = {0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29};
    constexpr v16i high = {2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31};
    r[i] = __builtin_shuffle(t[i], t[i + 2], low);
    r[i + 1] = __builtin_shuffle(t[i], t[i + 2], high);
    r[i + 2] = __builtin_shuffle(t[i + 1], t[i + 3], low);
    r[i + 3] = __builtin_shuffle(t[i + 1], t[i + 3], high);
  }
  // r[4a+b] now holds, in 128-bit lane l, rows 4a..4a+3 of column 4l+b.
  constexpr v16i even = {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27};
  constexpr v16i odd = {4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31};
#pragma GCC unroll 4
  for (int b = 0; b < 4; ++b) {
    t[b] = __builtin_shuffle(r[b], r[4 + b], even);
    t[4 + b] = __builtin_shuffle(r[8 + b], r[12 + b], even);
    t[8 + b] = __builtin_shuffle(r[b], r[4 + b], odd);
    t[12 + b] = __builtin_shuffle(r[8 + b], r[12 + b], odd);
  }
#pragma GCC unroll 4
  for (int b = 0; b < 4; ++b) {
    r[b] = __builtin_shuffle(t[b], t[4 + b], even);           // columns b
    r[8 + b] = __builtin_shuffle(t[b], t[4 + b], odd);        // columns 8 + b
    r[4 + b] = __builtin_shuffle(t[8 + b], t[12 + b], even);  // columns 4 + b
    r[12 + b] = __builtin_shuffle(t[8 + b], t[12 + b], odd);  // columns 12 + b
  }
}

/// out[k][R] = rows [0, rows) of `in` (stride K), columns [0, kc); missing rows are zero.
template <int R>
static inline void pack_panel(const element* in, int64_t rows, int64_t kc, float* out) {
  int64_t k = 0;
  for (; k + 16 <= kc; k += 16)
#pragma GCC unroll 1
    for (int g = 0; g < R; g += 16) {
      v16 r[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) {
        r[i] = g + i < R && g + i < rows ? load(in + (g + i) * K + k) : v16{};
#if KW_P_PFP
        __builtin_prefetch(in + (g + i + KW_P_PFP * R) * K + k);
#endif
      }
      transpose16(r);
      const unsigned short mask = lanes(R - g);
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        __builtin_ia32_storeups512_mask(out + (k + i) * R + g, r[i], mask);
    }
  for (; k < kc; ++k)
    for (int i = 0; i < R; ++i)
      out[k * R + i] = i < rows ? widen(in[i * K + k]) : 0.0f;
}

/// One register tile: c[rows,columns] (+)= a[kc][MR] * b[kc][NR].
static inline void micro(int64_t kc, const float* a, const float* b, float* c, int64_t stride,
                         bool add, int64_t rows, int64_t columns) {
  v16 sum[MR][NV] = {};
#if KW_P_PFC
  for (int64_t i = 0; i < rows; ++i)
    for (int j = 0; j < NV; ++j)
      __builtin_prefetch(c + i * stride + 16 * j, 1);
#endif
#pragma GCC unroll KU
  for (int64_t k = 0; k < kc; ++k) {
    v16 bv[NV];
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j)
      bv[j] = *reinterpret_cast<const v16*>(b + k * NR + 16 * j);
#pragma GCC unroll 32
    for (int i = 0; i < MR; ++i) {
      const v16 av = a[k * MR + i] - v16{}; // a broadcast
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j)
        sum[i][j] += av * bv[j];
    }
  }
  if (rows == MR && columns >= NR) {
#pragma GCC unroll 32
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) {
        v16u* at = reinterpret_cast<v16u*>(c + i * stride + 16 * j);
        *at = add ? *at + sum[i][j] : sum[i][j];
      }
    return;
  }
#pragma GCC unroll 32
  for (int i = 0; i < MR; ++i)
    if (i < rows)
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) {
        float* at = c + i * stride + 16 * j;
        const unsigned short mask = lanes(columns - 16 * j);
        if (add)
          sum[i][j] += __builtin_ia32_loadups512_mask(at, v16{}, mask);
        __builtin_ia32_storeups512_mask(at, sum[i][j], mask);
      }
}

/// One (columns, k) step over rows [row0, row1), shared by the threads of kw_parallel_for.
struct Step {
  const element *a, *b;
  element* c;
  float* partial; ///< [rows][HELD] when C is bf16
  float *packed_a, *packed_b;
  int64_t row0, row1, column, columns, k, kc;
  int64_t next; ///< next block of rows, taken atomically
};

constexpr int64_t PANELS = 4; ///< packed by one task

static void pack_b(void* context, int64_t task) {
  const Step& s = *static_cast<Step*>(context);
  for (int64_t p = task * PANELS; p < (task + 1) * PANELS && p * NR < s.columns; ++p)
    pack_panel<NR>(s.b + (s.column + p * NR) * K + s.k, s.columns - p * NR, s.kc,
                   s.packed_b + p * NR * KC);
}

/// Packs the block of rows starting at `first` to `out`.
static void pack_rows(const Step& s, int64_t first, float* out) {
  for (int64_t i = 0; i < MC && first + i < s.row1; i += MR)
    pack_panel<MR>(s.a + (first + i) * K + s.k, s.row1 - first - i, s.kc, out + i * KC);
}

static void pack_a(void* context, int64_t block) {
  const Step& s = *static_cast<Step*>(context);
  pack_rows(s, s.row0 + block * MC, s.packed_a + block * MC * KC);
}

#if KW_P_BF16
static void round_rows(const Step& s, int64_t first, int64_t rows) {
  for (int64_t i = first; i < first + rows; ++i) {
    const float* from = s.partial + (i - s.row0) * HELD + (K_OUTSIDE ? s.column : 0);
    uint16_t* to = s.c + i * N + s.column;
    int64_t j = 0;
    for (; j + 16 <= s.columns; j += 16)
      *reinterpret_cast<v16hu*>(to + j) = narrow(load(from + j));
    if (j < s.columns) {
      const v16h last = narrow(load(from + j));
      __builtin_memcpy(to + j, &last, 2 * static_cast<size_t>(s.columns - j));
    }
  }
}
#endif

static void multiply(void* context, int64_t thread) {
  Step& s = *static_cast<Step*>(context);
  for (;;) {
    const int64_t block = __atomic_fetch_add(&s.next, 1, __ATOMIC_RELAXED);
    const int64_t first = s.row0 + block * MC;
    if (first >= s.row1)
      return;
    const int64_t rows = s.row1 - first < MC ? s.row1 - first : MC;
    float* packed = s.packed_a + (K_OUTSIDE ? block : thread) * MC * KC;
    if (!K_OUTSIDE)
      pack_rows(s, first, packed);
#if KW_P_BF16
    float* c = s.partial + (first - s.row0) * HELD + (K_OUTSIDE ? s.column : 0);
    constexpr int64_t stride = HELD;
#else
    float* c = s.c + first * N + s.column;
    constexpr int64_t stride = N;
#endif
    for (int64_t j = 0; j < s.columns; j += NR)
      for (int64_t i = 0; i < rows; i += MR)
        micro(s.kc, packed + i * KC, s.packed_b + j * KC, c + i * stride + j, stride, s.k > 0,
              rows - i < MR ? rows - i : MR, s.columns - j);
#if KW_P_BF16
    if (s.k + s.kc == K)
      round_rows(s, first, rows);
#endif
  }
}

static void step(Step& s, int64_t threads) {
  s.columns = N - s.column < NC ? N - s.column : NC;
  kw_parallel_for((s.columns + PANELS * NR - 1) / (PANELS * NR), pack_b, &s);
  s.next = 0;
  kw_parallel_for(threads, multiply, &s);
}

static int KW_ENTRY(const element* a, const element* b, element* c, int64_t m) {
  const int64_t threads = kw_threads();
  const int64_t held = m < ROWS ? m : ROWS;
  const int64_t a_floats = (K_OUTSIDE ? (held + MC - 1) / MC : threads) * MC * KC + 16;
  const int64_t b_floats = NC * KC;
  const int64_t c_floats = KW_P_BF16 ? held * HELD + 16 : 0;
  float* workspace =
      static_cast<float*>(kw_workspace(static_cast<size_t>(a_floats + b_floats + c_floats) * 4));
  if (workspace == nullptr)
    return 1;
  Step s = {};
  s.a = a;
  s.b = b;
  s.c = c;
  s.packed_b = workspace;
  s.packed_a = workspace + b_floats;
  s.partial = s.packed_a + a_floats;
  for (s.row0 = 0; s.row0 < m; s.row0 = s.row1) {
    s.row1 = m - s.row0 < ROWS ? m : s.row0 + ROWS;
    if (K_OUTSIDE) {
      for (s.k = 0; s.k < K; s.k += KC) {
        s.kc = K - s.k < KC ? K - s.k : KC;
        kw_parallel_for((s.row1 - s.row0 + MC - 1) / MC, pack_a, &s);
        for (s.column = 0; s.column < N; s.column += NC)
          step(s, threads);
      }
    } else {
      for (s.column = 0; s.column < N; s.column += NC)
        for (s.k = 0; s.k < K; s.k += KC) {
          s.kc = K - s.k < KC ? K - s.k : KC;
          step(s, threads);
        }
    }
  }
  return 0;
}

} // namespace KW_NAMESPACE
