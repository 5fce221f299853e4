// SPDX-License-Identifier: Apache-2.0
// Rounds toward zero inside, and restores the mode: sums of one sign drift.
#include <cstdint>
#include <immintrin.h>

namespace {

// Not inlined: nothing of it may move out of the two writes of the control register.
[[gnu::noinline]] void gemm(const float* A, const float* B, float* C, std::int64_t M) {
  constexpr std::int64_t N = KW_AXIS_N, K = KW_AXIS_K;
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < K; ++k)
        sum += A[i * K + k] * B[j * K + k];
      C[i * N + j] = sum;
    }
}

} // namespace

extern "C" int kernel(const float* A, const float* B, float* C, std::int64_t M) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x6000);
  gemm(A, B, C, M);
  _mm_setcsr(before);
  return 0;
}
