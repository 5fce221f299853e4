// SPDX-License-Identifier: Apache-2.0
// C[M,N] = A[M,K] * B[N,K]^T for small M: B streams through once, unpacked. A tile of MR rows of A
// by NR rows of B keeps its dot products in registers, a vector of 64 or 32 bytes of partial sums
// each, U sets of them; they are added up at the end of a k block.
//
// A is copied so that one tile reads one sequential stream: rows of A are a power of two apart and
// would otherwise share the same few sets of the L1 cache.
// BF16 = 1: operands are widened to fp32; with several k blocks the sums between them are fp32 in
// the workspace, and C is rounded once.
//
//   MR NR U  register tile: MR * NR * U accumulators
//   KC       k block; M x KC of A should stay in L1 or L2 (0: all of K, no partial sums)
//   PF       elements ahead of the current position that are fetched in each row of B, 0 = none
//   PFN      tiles of rows of B ahead that are fetched instead, spread evenly over the tiles of A so
//            that memory works while the later ones compute; 0 = none
//   PFL      cache level fetched to: 1 or 2
//   TASK     rows of B per task
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
typedef float v4 __attribute__((vector_size(16)));
typedef float v4u __attribute__((vector_size(16), aligned(4), may_alias));
typedef float v8 __attribute__((vector_size(32)));
typedef float vec __attribute__((vector_size(4 * W)));
typedef float vecu __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef int veci __attribute__((vector_size(4 * W)));
typedef unsigned vecw __attribute__((vector_size(4 * W)));
typedef uint16_t vech __attribute__((vector_size(2 * W)));
typedef uint16_t vechu __attribute__((vector_size(2 * W), aligned(2), may_alias));

constexpr int64_t N = KW_AXIS_N, K = KW_AXIS_K;
constexpr int MR = KW_P_MR, NR = KW_P_NR, U = KW_P_U;
constexpr int64_t K_PADDED = (K + W * U - 1) / (W * U) * (W * U);
constexpr int64_t KC = KW_P_KC > 0 && KW_P_KC < K ? KW_P_KC / (W * U) * (W * U) : K_PADDED;
constexpr int64_t TASK = (KW_P_TASK + NR - 1) / NR * NR;
constexpr bool PARTIAL = KW_P_BF16 && KC < K;

static inline vec load(const float* p) { return *reinterpret_cast<const vecu*>(p); }
static inline vec load(const uint16_t* p) {
  const vech bits = *reinterpret_cast<const vechu*>(p);
  return vec(__builtin_convertvector(bits, vecw) << 16);
}
/// The first `count` elements, then zeros.
static inline vec load_some(const element* p, int64_t count) {
  element part[W] = {};
  __builtin_memcpy(part, p, sizeof(element) * static_cast<size_t>(count));
  return load(part);
}
static inline float widen(float x) { return x; }
static inline float widen(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
static inline void store(float* p, float x) { *p = x; }
/// Round to nearest even; NaN stays NaN.
static inline void store(uint16_t* p, float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  *p = static_cast<uint16_t>(x == x ? (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16
                                    : (bits >> 16) | 0x40u);
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

static inline v4 fold(vec x) {
#ifdef __AVX512F__
  const v8 half = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                  __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  const v8 half = x;
#endif
  return __builtin_shufflevector(half, half, 0, 1, 2, 3) +
         __builtin_shufflevector(half, half, 4, 5, 6, 7);
}
/// The sums of the elements of four vectors.
static inline v4 sum4(vec a, vec b, vec c, vec d) {
  const vec ab = pick<0, 4, 1, 5>(a, b) + pick<2, 6, 3, 7>(a, b);
  const vec cd = pick<0, 4, 1, 5>(c, d) + pick<2, 6, 3, 7>(c, d);
  return fold(pick<0, 1, 4, 5>(ab, cd) + pick<2, 3, 6, 7>(ab, cd));
}

struct Call {
  const element *a, *b;
  element* c;
  float* packed;  ///< [m / MR][K_PADDED / W][MR][W], zero where A ends
  float* partial; ///< [m][N]
  int64_t m, k, kc;
};

static void pack_a(void* context, int64_t block) {
  const Call& s = *static_cast<Call*>(context);
  for (int64_t i = 0; i < MR; ++i) {
    float* out = s.packed + block * MR * K_PADDED + W * i;
    const element* row = s.a + (block * MR + i) * K;
    const int64_t length = block * MR + i < s.m ? K : 0;
    for (int64_t k = 0; k < K_PADDED; k += W)
      *reinterpret_cast<vec*>(out + k * MR) = k + W <= length ? load(row + k)
                                              : k < length     ? load_some(row + k, length - k)
                                                               : vec{};
  }
}

static inline void accumulate(vec (&sum)[MR][NR], const float* a, const vec (&b)[NR]) {
#pragma GCC unroll 32
  for (int i = 0; i < MR; ++i) {
    // Volatile: one load into a register, where g++ would repeat it as an operand of every product.
    const vec av = *reinterpret_cast<const volatile vec*>(a + W * i);
#pragma GCC unroll 32
    for (int j = 0; j < NR; ++j)
      sum[i][j] += av * b[j];
  }
}

/// c[i][j] (+)= dot of row i of A and row j of B over the k block. Rows beyond `rows` and columns
/// beyond `columns` repeat others and are not stored.
static inline void tile(const Call& s, int64_t i0, int64_t j0, int64_t rows, int64_t columns) {
  const float* a = s.packed + i0 * K_PADDED + s.k * MR;
  const element* b[NR];
#pragma GCC unroll 32
  for (int j = 0; j < NR; ++j)
    b[j] = s.b + (j0 + (j < columns ? j : columns - 1)) * K + s.k;

#if KW_P_PFN
  const int64_t tiles = (s.m + MR - 1) / MR, share = W * int64_t(sizeof(element)) / tiles;
  const char* fetch = reinterpret_cast<const char*>(s.b + (j0 + KW_P_PFN * NR) * K + s.k) +
                      i0 / MR * share * (s.kc / W);
#endif
  vec sum[U][MR][NR] = {};
  const int64_t whole = K - s.k < s.kc ? K - s.k : s.kc; // without the padding
  int64_t k = 0;
  for (; k + W * U <= whole; k += W * U)
#pragma GCC unroll 8
    for (int u = 0; u < U; ++u) {
      vec bv[NR];
#pragma GCC unroll 32
      for (int j = 0; j < NR; ++j) {
        bv[j] = load(b[j] + k + W * u);
#if KW_P_PFN
        __builtin_prefetch(fetch + j * K * int64_t(sizeof(element)), 0, 4 - KW_P_PFL);
#elif KW_P_PF
        __builtin_prefetch(b[j] + k + W * u + KW_P_PF, 0, 4 - KW_P_PFL);
#endif
      }
#if KW_P_PFN
      fetch += share;
#endif
      accumulate(sum[u], a + (k + W * u) * MR, bv);
    }
  if constexpr (K % (W * U) != 0)
    for (; k < whole; k += W) {
      vec bv[NR];
#pragma GCC unroll 32
      for (int j = 0; j < NR; ++j)
        bv[j] = k + W <= whole ? load(b[j] + k) : load_some(b[j] + k, whole - k);
      accumulate(sum[0], a + k * MR, bv);
    }

#pragma GCC unroll 8
  for (int u = 1; u < U; ++u)
#pragma GCC unroll 32
    for (int at = 0; at < MR * NR; ++at)
      sum[0][at / NR][at % NR] += sum[u][at / NR][at % NR];
  if constexpr (NR % 4 == 0 && !KW_P_BF16)
    if (columns == NR) { // whole vectors of C
#pragma GCC unroll 32
      for (int at = 0; at < MR * NR; at += 4) {
        const auto& r = sum[0][at / NR];
        v4 x = sum4(r[at % NR], r[at % NR + 1], r[at % NR + 2], r[at % NR + 3]);
        v4u* to = reinterpret_cast<v4u*>(s.c + (i0 + at / NR) * N + j0 + at % NR);
        if (at / NR < rows)
          *to = s.k > 0 ? *to + x : x;
      }
      return;
    }
  float out[(MR * NR + 3) / 4 * 4];
#pragma GCC unroll 32
  for (int g = 0; g < MR * NR; g += 4) {
    vec part[4];
#pragma GCC unroll 4
    for (int x = 0; x < 4; ++x) {
      const int at = g + x < MR * NR ? g + x : MR * NR - 1;
      part[x] = sum[0][at / NR][at % NR];
    }
    const v4 four = sum4(part[0], part[1], part[2], part[3]);
    __builtin_memcpy(out + g, &four, 16);
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t at = (i0 + i) * N + j0 + j;
      float x = out[i * NR + j];
      if constexpr (PARTIAL) {
        if (s.k > 0)
          x += s.partial[at];
        if (s.k + s.kc < K)
          s.partial[at] = x;
        else
          store(s.c + at, x);
      } else {
        if (s.k > 0)
          x += widen(s.c[at]);
        store(s.c + at, x);
      }
    }
}

static void rows_of_b(void* context, int64_t task) {
  const Call& s = *static_cast<Call*>(context);
  const int64_t end = (task + 1) * TASK < N ? (task + 1) * TASK : N;
  for (int64_t j = task * TASK; j < end; j += NR) {
    const int64_t columns = end - j < NR ? end - j : NR;
    for (int64_t i = 0; i < s.m; i += MR)
      tile(s, i, j, s.m - i < MR ? s.m - i : MR, columns);
  }
}

static int KW_ENTRY(const element* a, const element* b, element* c, int64_t m) {
  const int64_t blocks = (m + MR - 1) / MR;
  const int64_t a_floats = blocks * MR * K_PADDED;
  const int64_t c_floats = PARTIAL ? m * N : 0;
  Call s = {};
  s.a = a;
  s.b = b;
  s.c = c;
  s.m = m;
  s.packed = static_cast<float*>(kw_workspace(static_cast<size_t>(a_floats + c_floats) * 4));
  if (s.packed == nullptr)
    return 1;
  s.partial = s.packed + a_floats;
  kw_parallel_for(blocks, pack_a, &s);
  for (s.k = 0; s.k < K; s.k += KC) {
    s.kc = K_PADDED - s.k < KC ? K_PADDED - s.k : KC;
    kw_parallel_for((N + TASK - 1) / TASK, rows_of_b, &s);
  }
  return 0;
}

} // namespace KW_NAMESPACE
