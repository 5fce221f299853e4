// SPDX-License-Identifier: Apache-2.0
// C = A B^T as dot products, four rows of A by four rows of B at a time: both run along K, each loaded
// value is used four times, and 64 rows of B stay in the second-level cache while all of A passes by.
// Sixteen running sums per dot product, since the compiler may not reorder fp32 sums by itself.
#include <cstdint>

namespace {

constexpr std::int64_t N = KW_AXIS_N, K = KW_AXIS_K;
constexpr int lanes = 16;
static_assert(K % lanes == 0 && N % 4 == 0);

struct Sums {
  float lane[lanes];
};

// c[i][j] = sum_k a[i][k] b[j][k] for R rows of A and 4 rows of B
template <int R> void tile(const float* a, const float* b, float* c) {
  Sums sum[R][4] = {};
  for (std::int64_t k = 0; k < K; k += lanes)
    for (int i = 0; i < R; ++i)
      for (int j = 0; j < 4; ++j)
        for (int l = 0; l < lanes; ++l)
          sum[i][j].lane[l] += a[i * K + k + l] * b[j * K + k + l];
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < 4; ++j) {
      float total = 0;
      for (float v : sum[i][j].lane)
        total += v;
      c[i * N + j] = total;
    }
}

} // namespace

// A [M, K], B [N, K], C [M, N]
extern "C" int baseline(const float* A, const float* B, float* C, std::int64_t M) {
  constexpr std::int64_t width = 64;
  for (std::int64_t block = 0; block < N; block += width) {
    const std::int64_t end = block + width < N ? block + width : N;
    std::int64_t i = 0;
    for (; i + 4 <= M; i += 4)
      for (std::int64_t j = block; j < end; j += 4)
        tile<4>(A + i * K, B + j * K, C + i * N + j);
    for (; i < M; ++i)
      for (std::int64_t j = block; j < end; j += 4)
        tile<1>(A + i * K, B + j * K, C + i * N + j);
  }
  return 0;
}
