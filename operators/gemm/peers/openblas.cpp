// SPDX-License-Identifier: Apache-2.0
// OpenBLAS sgemm, and sgemv for one row. A peer: timed beside candidates, never promoted.
//
// OpenBLAS picks its kernels by CPU model when it is loaded; on AVX-512 machines SKYLAKEX and
// COOPERLAKE are 1.6 times as fast as HASWELL. If the model is unknown to it, or OPENBLAS_CORETYPE
// says otherwise, the peer would be a strawman: then it refuses.
#include <cstdint>
#include <cstring>
#include <initializer_list>

extern "C" {
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc);
void cblas_sgemv(int order, int transpose, int m, int n, float alpha, const float* a, int lda, const float* x,
                 int incx, float beta, float* y, int incy);
char* openblas_get_corename(void);
}

namespace {

constexpr int row_major = 101, plain = 111, transposed = 112;
constexpr int N = KW_AXIS_N, K = KW_AXIS_K;

bool suits_this_cpu() {
#ifdef __AVX512F__
  const char* core = openblas_get_corename();
  for (const char* wide : {"SkylakeX", "Cooperlake", "Sapphirerapids", "SapphireRapids", "Zen4"})
    if (std::strcmp(core, wide) == 0)
      return true;
  return false;
#else
  return true;
#endif
}

} // namespace

/// C[m,N] = A[m,K] * B[N,K]^T. Returns 2 if OpenBLAS runs kernels of a narrower CPU.
extern "C" int gemm_openblas(const float* A, const float* B, float* C, std::int64_t m) {
  static const bool suits = suits_this_cpu();
  if (!suits)
    return 2;
  if (m == 1)
    cblas_sgemv(row_major, plain, N, K, 1, B, K, A, 1, 0, C, 1);
  else
    cblas_sgemm(row_major, plain, transposed, static_cast<int>(m), N, K, 1, A, K, B, K, 0, C, N);
  return 0;
}
