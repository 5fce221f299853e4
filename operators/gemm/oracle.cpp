// SPDX-License-Identifier: Apache-2.0
// C = A B^T in fp64, and the magnitude of the rounding errors that fp32 accumulation may make.
//
//   y_ij = sum_k a_ik b_jk,   S_ij = sum_k max(|a_ik b_jk|, 2^-126)
//
// Every product and every addition rounds relative to numbers no larger than S_ij, whatever the order;
// below 2^-126 fp32 rounds absolutely, hence the K 2^-126. S steers a tolerance, so fp32 is precise
// enough for it, and half the work. Three entries per element type:
//   oracle_*   the whole of C
//   block_*    the rows x columns named by two lists
//   project_*  C X and S |X| for X [N, r], without forming C: A (B^T X), O((M + N) K r)
#include "kernwright.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr std::int64_t N = KW_AXIS_N, K = KW_AXIS_K;
static_assert(K % 16 == 0);
constexpr double floor_s = static_cast<double>(K) * 0x1p-126;

using Lanes = double __attribute__((vector_size(64)));    // 8 fp64
using Floats8 = float __attribute__((vector_size(32)));   // 8 fp32
using Floats16 = float __attribute__((vector_size(64)));  // 16 fp32
using Words16 = std::uint32_t __attribute__((vector_size(64)));
using Halves16 = std::uint16_t __attribute__((vector_size(32)));
struct Pair {
  Lanes low, high;
};

Floats16 load16(const float* p) {
  Floats16 f;
  std::memcpy(&f, p, sizeof f);
  return f;
}
// bf16 is the upper half of a float.
Floats16 load16(const std::uint16_t* p) {
  Halves16 h;
  std::memcpy(&h, p, sizeof h);
  return reinterpret_cast<Floats16>(__builtin_convertvector(h, Words16) << 16);
}
Floats16 absolute(Floats16 v) { return reinterpret_cast<Floats16>(reinterpret_cast<Words16>(v) & 0x7fffffffU); }
Lanes absolute(Lanes v) { return v < 0 ? -v : v; }

Pair widen(Floats16 f) {
  Floats8 half[2];
  std::memcpy(half, &f, sizeof f);
  return {__builtin_convertvector(half[0], Lanes), __builtin_convertvector(half[1], Lanes)};
}

template <class V> double sum(V v) {
  double s = 0;
  for (std::size_t l = 0; l < sizeof v / sizeof v[0]; ++l)
    s += static_cast<double>(v[l]);
  return s;
}

// Dot products of R rows of A with 4 rows of B over `length` elements, added to y and s.
template <int R, class T>
void dots(const T* const* a, const T* const* b, std::int64_t length, double (*y)[4], double (*s)[4]) {
  Lanes exact[R][4] = {};
  for (std::int64_t k = 0; k < length; k += 16) {
    Pair x[R];
    for (int i = 0; i < R; ++i)
      x[i] = widen(load16(a[i] + k));
    for (int j = 0; j < 4; ++j) {
      const Pair w = widen(load16(b[j] + k));
      for (int i = 0; i < R; ++i) {
        exact[i][j] += x[i].low * w.low;
        exact[i][j] += x[i].high * w.high;
      }
    }
  }
  Floats16 size[R][4] = {};
  for (std::int64_t k = 0; k < length; k += 16) {
    Floats16 x[R];
    for (int i = 0; i < R; ++i)
      x[i] = absolute(load16(a[i] + k));
    for (int j = 0; j < 4; ++j) {
      const Floats16 w = absolute(load16(b[j] + k));
      for (int i = 0; i < R; ++i)
        size[i][j] += x[i] * w;
    }
  }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < 4; ++j) {
      y[i][j] = sum(exact[i][j]);
      s[i][j] = sum(size[i][j]);
    }
}

std::int64_t pick(const std::int64_t* list, std::int64_t i) { return list == nullptr ? i : list[i]; }

template <class F> void parallel(std::int64_t count, F f) {
  kw_parallel_for(count, [](void* context, std::int64_t i) { (*static_cast<F*>(context))(i); }, &f);
}

// One tile of y, s: columns [tile, tile_end), rows [first, last).
template <class T>
void tile_of(const T* A, const T* B, const std::int64_t* rows, std::int64_t first, std::int64_t last, const std::int64_t* cols,
             std::int64_t ncols, std::int64_t tile, std::int64_t tile_end, double* y, double* s) {
  constexpr std::int64_t depth = 2048; // 64 x 2048 fp32 of B stay in a 1 MiB cache
  for (std::int64_t k = 0; k < K; k += depth) {
    const std::int64_t length = K - k < depth ? K - k : depth;
    for (std::int64_t i = first; i < last;) {
      const int high = last - i >= 4 ? 4 : 1;
      const T* a[4] = {};
      for (int r = 0; r < high; ++r)
        a[r] = A + pick(rows, i + r) * K + k;
      for (std::int64_t j = tile; j < tile_end; j += 4) {
        const T* b[4];
        for (std::int64_t c = 0; c < 4; ++c) // a short last group repeats its last column
          b[c] = B + pick(cols, j + c < tile_end ? j + c : tile_end - 1) * K + k;
        double part[4][4], part_s[4][4];
        if (high == 4)
          dots<4>(a, b, length, part, part_s);
        else
          dots<1>(a, b, length, part, part_s);
        for (int r = 0; r < high; ++r)
          for (std::int64_t c = 0; c < 4 && j + c < tile_end; ++c) {
            const std::int64_t at = (i + r) * ncols + j + c;
            y[at] = part[r][c] + (k == 0 ? 0 : y[at]);
            s[at] = part_s[r][c] + (k == 0 ? floor_s : s[at]);
          }
      }
      i += high;
    }
  }
}

// y, s [nrows, ncols]; a null list means all rows or columns.
template <class T>
void block(const T* A, const T* B, const std::int64_t* rows, std::int64_t nrows, const std::int64_t* cols,
           std::int64_t ncols, double* y, double* s) {
  constexpr std::int64_t width = 64, height = 64;
  const std::int64_t across = (ncols + width - 1) / width, down = (nrows + height - 1) / height;
  parallel(across * down, [=](std::int64_t at) {
    const std::int64_t tile = at / down * width, first = at % down * height;
    tile_of(A, B, rows, first, first + height < nrows ? first + height : nrows, cols, ncols, tile,
            tile + width < ncols ? tile + width : ncols, y, s);
  });
}

// YX [M, r] = C X and MAGX [M, r] = S |X|.
template <class T>
void project(const T* A, const T* B, const double* X, std::int64_t r, double* YX, double* MAGX, std::int64_t M) {
  // T [r, K] = (B^T X)^T and its magnitudes, in strips of K that stay in the first-level cache.
  constexpr std::int64_t strip = 128;
  static_assert(N % 4 == 0);
  std::vector<double> image(static_cast<std::size_t>(r * K)), size(static_cast<std::size_t>(r * K));
  std::vector<double> column_sizes(static_cast<std::size_t>(r));
  for (std::int64_t j = 0; j < N; ++j)
    for (std::int64_t c = 0; c < r; ++c)
      column_sizes[static_cast<std::size_t>(c)] += std::fabs(X[j * r + c]);
  parallel((K + strip - 1) / strip, [&](std::int64_t part) {
    const std::int64_t k = part * strip, length = K - k < strip ? K - k : strip;
    for (std::int64_t j = 0; j < N; j += 4) {
      alignas(64) double row[4][strip];
      for (std::int64_t q = 0; q < 4; ++q)
        for (std::int64_t l = 0; l < length; l += 16) {
          const Pair w = widen(load16(B + (j + q) * K + k + l));
          std::memcpy(row[q] + l, &w, sizeof w);
        }
      for (std::int64_t c = 0; c < r; ++c) {
        const double x[4] = {X[j * r + c], X[(j + 1) * r + c], X[(j + 2) * r + c], X[(j + 3) * r + c]};
        const double m[4] = {std::fabs(x[0]), std::fabs(x[1]), std::fabs(x[2]), std::fabs(x[3])};
        if (m[0] + m[1] + m[2] + m[3] == 0) // the judge's X has a block of columns per c
          continue;
        double* to = image.data() + c * K + k;
        double* to_size = size.data() + c * K + k;
        for (std::int64_t l = 0; l < length; ++l) {
          to[l] += x[0] * row[0][l] + x[1] * row[1][l] + x[2] * row[2][l] + x[3] * row[3][l];
          to_size[l] += m[0] * std::fabs(row[0][l]) + m[1] * std::fabs(row[1][l]) + m[2] * std::fabs(row[2][l]) +
                        m[3] * std::fabs(row[3][l]);
        }
      }
    }
  });
  parallel(M, [&](std::int64_t i) {
    for (std::int64_t c = 0; c < r; ++c) {
      Lanes y[2] = {}, s[2] = {};
      for (std::int64_t k = 0; k < K; k += 16) {
        const Pair a = widen(load16(A + i * K + k));
        Pair t, z;
        std::memcpy(&t, image.data() + c * K + k, sizeof t);
        std::memcpy(&z, size.data() + c * K + k, sizeof z);
        y[0] += a.low * t.low, y[1] += a.high * t.high;
        s[0] += absolute(a.low) * z.low, s[1] += absolute(a.high) * z.high;
      }
      YX[i * r + c] = sum(y[0] + y[1]);
      MAGX[i * r + c] = sum(s[0] + s[1]) + floor_s * column_sizes[static_cast<std::size_t>(c)];
    }
  });
}

using F32 = float;
using Bf16 = std::uint16_t;
using I64 = std::int64_t;

} // namespace

#define KW_GEMM_ORACLE(suffix, T)                                                                             \
  extern "C" int oracle_##suffix(const T* A, const T* B, double* y, double* s, I64 M) {                       \
    block(A, B, nullptr, M, nullptr, N, y, s);                                                                \
    return 0;                                                                                                 \
  }                                                                                                           \
  extern "C" int block_##suffix(const T* A, const T* B, const I64* rows, I64 nrows, const I64* cols,          \
                                I64 ncols, double* y, double* s, I64) {                                       \
    block(A, B, rows, nrows, cols, ncols, y, s);                                                              \
    return 0;                                                                                                 \
  }                                                                                                           \
  extern "C" int project_##suffix(const T* A, const T* B, const double* X, I64 r, double* YX, double* MAGX,   \
                                  I64 M) {                                                                    \
    project(A, B, X, r, YX, MAGX, M);                                                                         \
    return 0;                                                                                                 \
  }
KW_GEMM_ORACLE(f32, F32)
KW_GEMM_ORACLE(bf16, Bf16)
