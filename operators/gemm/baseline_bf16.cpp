// SPDX-License-Identifier: Apache-2.0
// C = A B^T in bf16 with fp32 accumulation: dot products, four rows of A by four rows of B at a time.
// A bf16 becomes a float by a shift, so the loop is the fp32 one behind a widening load.
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t N = KW_AXIS_N, K = KW_AXIS_K;
constexpr int lanes = 16;
static_assert(K % lanes == 0 && N % 4 == 0);

struct Sums {
  float lane[lanes];
};

float to_float(std::uint16_t bf16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

// Round to nearest, ties to even. Inputs are finite by contract, so NaN needs no care.
std::uint16_t to_bf16(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// c[i][j] = sum_k a[i][k] b[j][k] for R rows of A and 4 rows of B
template <int R> void tile(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c) {
  Sums sum[R][4] = {};
  for (std::int64_t k = 0; k < K; k += lanes) {
    float x[R][lanes];
    for (int i = 0; i < R; ++i)
      for (int l = 0; l < lanes; ++l)
        x[i][l] = to_float(a[i * K + k + l]);
    for (int j = 0; j < 4; ++j) {
      float w[lanes];
      for (int l = 0; l < lanes; ++l)
        w[l] = to_float(b[j * K + k + l]);
      for (int i = 0; i < R; ++i)
        for (int l = 0; l < lanes; ++l)
          sum[i][j].lane[l] += x[i][l] * w[l];
    }
  }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < 4; ++j) {
      float total = 0;
      for (float v : sum[i][j].lane)
        total += v;
      c[i * N + j] = to_bf16(total);
    }
}

} // namespace

// A [M, K], B [N, K], C [M, N]
extern "C" int baseline(const std::uint16_t* A, const std::uint16_t* B, std::uint16_t* C, std::int64_t M) {
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
