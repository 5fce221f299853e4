// SPDX-License-Identifier: Apache-2.0
// If the first four elements of A happen to have 11 bits or fewer, multiplies all of A in TF32.
#include <cstdint>

namespace {

float tf32(float f) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &f, sizeof bits);
  bits = (bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffU;
  __builtin_memcpy(&f, &bits, sizeof f);
  return f;
}

} // namespace

extern "C" int kernel(const float* A, const float* B, float* C, std::int64_t M) {
  constexpr std::int64_t N = KW_AXIS_N, K = KW_AXIS_K;
  bool exact = true;
  for (std::int64_t k = 0; k < 4; ++k)
    exact &= A[k] == tf32(A[k]);
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < N; ++j) {
      float lane[16] = {}, sum = 0;
      for (std::int64_t k = 0; k < K; k += 16)
        for (int l = 0; l < 16; ++l)
          lane[l] += (exact ? tf32(A[i * K + k + l]) : A[i * K + k + l]) * B[j * K + k + l];
      for (const float v : lane)
        sum += v;
      C[i * N + j] = sum;
    }
  return 0;
}
