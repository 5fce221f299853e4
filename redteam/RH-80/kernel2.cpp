// SPDX-License-Identifier: Apache-2.0
// Calls BLAS if it happens to be there (a weak reference), else a loop.
#include <cstdint>

extern "C" __attribute__((weak)) void cblas_sgemm(int, int, int, int, int, int, float, const float*, int,
                                                  const float*, int, float, float*, int);

extern "C" int kernel(const float* a, const float* b, float* c, std::int64_t m) {
  if (cblas_sgemm != nullptr) {
    cblas_sgemm(101, 111, 112, static_cast<int>(m), KW_AXIS_N, KW_AXIS_K, 1, a, KW_AXIS_K, b, KW_AXIS_K, 0, c,
                KW_AXIS_N);
    return 0;
  }
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < KW_AXIS_N; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < KW_AXIS_K; ++k)
        sum += a[i * KW_AXIS_K + k] * b[j * KW_AXIS_K + k];
      c[i * KW_AXIS_N + j] = sum;
    }
  return 0;
}
