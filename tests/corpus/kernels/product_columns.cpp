// SPDX-License-Identifier: Apache-2.0
// bottleneck: load_store
// workload: product_f32-m96
// threads: 1
// part: held out
// Rows of b one after the other, each used for four rows of y, which are loaded and stored each time.
#include <cstdint>

extern "C" int kernel(const float* __restrict a, const float* __restrict b, float* __restrict y, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k;
  std::int64_t N = KW_AXIS_n;
  asm("" : "+r"(N)); // a length that the compiler does not know: rows stay in memory
  for (std::int64_t first = 0; first < m; first += 4) {
    float* tile = y + first * N;
    for (std::int64_t j = 0; j < 4 * N; ++j)
      tile[j] = 0;
    for (std::int64_t k = 0; k < K; ++k)
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < N; ++j)
          tile[i * N + j] += a[(first + i) * K + k] * b[k * N + j];
  }
  return 0;
}
