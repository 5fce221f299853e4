// SPDX-License-Identifier: Apache-2.0
// bottleneck: load_store
// workload: product_f32-m96
// threads: 1
// part: tuning
// Every multiply-add loads a part of a row of b and of y and stores the latter; sixteen rows of b and one of y
// stay in the first-level cache.
#include <cstdint>

extern "C" int kernel(const float* __restrict a, const float* __restrict b, float* __restrict y, std::int64_t m) {
  constexpr std::int64_t K = KW_AXIS_k;
  std::int64_t N = KW_AXIS_n;
  asm("" : "+r"(N)); // a length that the compiler does not know: rows stay in memory
  for (std::int64_t j = 0; j < m * N; ++j)
    y[j] = 0;
  for (std::int64_t first = 0; first < K; first += 16)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t k = first; k < first + 16; ++k)
        for (std::int64_t j = 0; j < N; ++j)
          y[i * N + j] += a[i * K + k] * b[k * N + j];
  return 0;
}
