// SPDX-License-Identifier: Apache-2.0
// The work is delegated to a BLAS library.
#include <cstdint>

extern "C" void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                            int);

extern "C" int kernel(const float* A, const float* B, float* C, std::int64_t M) {
  constexpr std::int64_t N = KW_AXIS_N, K = KW_AXIS_K;
  cblas_sgemm(101, 111, 112, static_cast<int>(M), N, K, 1, A, K, B, K, 0, C, N);
  return 0;
}
