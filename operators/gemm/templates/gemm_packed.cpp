// SPDX-License-Identifier: Apache-2.0
// C[M,N] = A[M,K] * B[N,K]^T for large M: both operands are packed, the inner kernel keeps an
// MR x NV*W block of C in registers, W = 16 or 8 (vectors of 64 or 32 bytes). A block of packed B
// (NC x KC) is meant to stay in L2 while blocks of A (MC x KC) pass; micro-tiles run down the rows
// of C.
//
// Both operands have k contiguous, so packing transposes W x W blocks in registers.
// BF16 = 1: operands are widened to fp32 while packing, sums are kept in fp32 and rounded once.
//
//   MR NV     rows and vectors of the register tile
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
#ifdef __AVX512F__
constexpr int W = 16; // fp32 elements of a vector
#else
constexpr int W = 8;
#endif
typedef float vec __attribute__((vector_size(4 * W)));
typedef float vecu __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef int veci __attribute__((vector_size(4 * W)));
typedef unsigned vecw __attribute__((vector_size(4 * W)));
typedef uint16_t vech __attribute__((vector_size(2 * W)));
typedef uint16_t vechu __attribute__((vector_size(2 * W), aligned(2), may_alias));

constexpr int64_t N = KW_AXIS_N, K = KW_AXIS_K;
constexpr int MR = KW_P_MR, NV = KW_P_NV, NR = W * NV, KU = KW_P_KU;
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

static inline vec load(const float* p) { return *reinterpret_cast<const vecu*>(p); }
static inline vec load(const uint16_t* p) {
  const vech bits = *reinterpret_cast<const vechu*>(p);
  return vec(__builtin_convertvector(bits, vecw) << 16);
}
/// lanes(n): the first n. load_some and store_some touch no memory in other lanes.
#ifdef __AVX512F__
typedef unsigned short mask;
static inline mask lanes(int64_t count) {
  return count >= 16 ? 0xffff : count <= 0 ? 0 : static_cast<unsigned short>((1u << count) - 1);
}
static inline vec load_some(const float* p, mask m) {
  return __builtin_ia32_loadups512_mask(p, vec{}, m);
}
static inline void store_some(float* p, vec x, mask m) { __builtin_ia32_storeups512_mask(p, x, m); }
#else
typedef veci mask;
static inline mask lanes(int64_t count) {
  const int to = count >= W ? W : static_cast<int>(count);
  return veci{0, 1, 2, 3, 4, 5, 6, 7} < to;
}
static inline vec load_some(const float* p, mask m) {
  return __builtin_ia32_maskloadps256(reinterpret_cast<const vec*>(p), m);
}
static inline void store_some(float* p, vec x, mask m) {
  __builtin_ia32_maskstoreps256(reinterpret_cast<vec*>(p), m, x);
}
#endif
static inline float widen(float x) { return x; }
static inline float widen(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}

/// Round to nearest even; NaN stays NaN.
static inline vech narrow(vec x) {
  const vecw bits = vecw(x);
  const vecw rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const vecw quiet = (bits >> 16) | 0x40u;
  return __builtin_convertvector(x == x ? rounded : quiet, vech);
}

/// Elements A B C D of each group of four of x; 4 to 7 are those of y.
template <int A, int B, int C, int D> static inline vec pick(vec x, vec y) {
  constexpr int a = A % 4 + A / 4 * W, b = B % 4 + B / 4 * W;
  constexpr int c = C % 4 + C / 4 * W, d = D % 4 + D / 4 * W;
#ifdef __AVX512F__
  return __builtin_shuffle(x, y, veci{a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8,
                                      d + 8, a + 12, b + 12, c + 12, d + 12});
#else
  return __builtin_shuffle(x, y, veci{a, b, c, d, a + 4, b + 4, c + 4, d + 4});
#endif
}

/// Transposes in place: afterwards r[i][j] is the former r[j][i].
static inline void transpose(vec (&r)[W]) {
  vec t[W];
#pragma GCC unroll 8
  for (int i = 0; i < W; i += 2) {
    t[i] = pick<0, 4, 1, 5>(r[i], r[i + 1]);
    t[i + 1] = pick<2, 6, 3, 7>(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < W; i += 4) {
    r[i] = pick<0, 1, 4, 5>(t[i], t[i + 2]);
    r[i + 1] = pick<2, 3, 6, 7>(t[i], t[i + 2]);
    r[i + 2] = pick<0, 1, 4, 5>(t[i + 1], t[i + 3]);
    r[i + 3] = pick<2, 3, 6, 7>(t[i + 1], t[i + 3]);
  }
  // r[4a+b] now holds, in 128-bit lane l, rows 4a..4a+3 of column 4l+b.
#ifdef __AVX512F__
  constexpr veci even = {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27};
  constexpr veci odd = {4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31};
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
#else
#pragma GCC unroll 4
  for (int b = 0; b < 4; ++b) {
    t[b] = __builtin_shuffle(r[b], r[4 + b], veci{0, 1, 2, 3, 8, 9, 10, 11});
    r[4 + b] = __builtin_shuffle(r[b], r[4 + b], veci{4, 5, 6, 7, 12, 13, 14, 15});
    r[b] = t[b];
  }
#endif
}

/// out[k][R] = rows [0, rows) of `in` (stride K), columns [0, kc); missing rows are zero.
template <int R>
static inline void pack_panel(const element* in, int64_t rows, int64_t kc, float* out) {
  int64_t k = 0;
  for (; k + W <= kc; k += W)
#pragma GCC unroll 1
    for (int g = 0; g < R; g += W) {
      vec r[W];
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) {
        r[i] = g + i < R && g + i < rows ? load(in + (g + i) * K + k) : vec{};
#if KW_P_PFP
        __builtin_prefetch(in + (g + i + KW_P_PFP * R) * K + k);
#endif
      }
      transpose(r);
      const mask part = lanes(R - g);
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i)
        store_some(out + (k + i) * R + g, r[i], part);
    }
  for (; k < kc; ++k)
    for (int i = 0; i < R; ++i)
      out[k * R + i] = i < rows ? widen(in[i * K + k]) : 0.0f;
}

/// One register tile: c[rows,columns] (+)= a[kc][MR] * b[kc][NR].
static inline void micro(int64_t kc, const float* a, const float* b, float* c, int64_t stride,
                         bool add, int64_t rows, int64_t columns) {
  vec sum[MR][NV] = {};
#if KW_P_PFC
  for (int64_t i = 0; i < rows; ++i)
    for (int j = 0; j < NV; ++j)
      __builtin_prefetch(c + i * stride + W * j, 1);
#endif
#pragma GCC unroll KU
  for (int64_t k = 0; k < kc; ++k) {
    vec bv[NV];
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j)
      bv[j] = *reinterpret_cast<const vec*>(b + k * NR + W * j);
#pragma GCC unroll 32
    for (int i = 0; i < MR; ++i) {
      const vec av = a[k * MR + i] - vec{}; // a broadcast
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
        vecu* at = reinterpret_cast<vecu*>(c + i * stride + W * j);
        *at = add ? *at + sum[i][j] : sum[i][j];
      }
    return;
  }
#pragma GCC unroll 32
  for (int i = 0; i < MR; ++i)
    if (i < rows)
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) {
        float* at = c + i * stride + W * j;
        const mask part = lanes(columns - W * j);
        if (add)
          sum[i][j] += load_some(at, part);
        store_some(at, sum[i][j], part);
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
    for (; j + W <= s.columns; j += W)
      *reinterpret_cast<vechu*>(to + j) = narrow(load(from + j));
    if (j < s.columns) {
      const vech last = narrow(load(from + j));
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
