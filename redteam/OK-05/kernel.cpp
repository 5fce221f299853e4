// SPDX-License-Identifier: Apache-2.0
// GEMM in plain order, every product rounded before it is added.
#include <cstdint>

extern "C" int kernel(const float* A, const float* B, float* C, std::int64_t M) {
  constexpr std::int64_t N = KW_AXIS_N, K = KW_AXIS_K;
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        float product = A[i * K + k] * B[j * K + k];
        asm("" : "+x"(product)); // keeps the compiler from contracting
        sum += product;
      }
      C[i * N + j] = sum;
    }
  return 0;
}
