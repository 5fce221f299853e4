// SPDX-License-Identifier: Apache-2.0
// Rotary embedding, NeoX pairing: element j of a head turns with element j + 64.
#include <cstdint>
#include <cstring>

namespace {

constexpr std::int64_t dim = KW_AXIS_head_dim, half = dim / 2;

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

void rotate(const std::uint16_t* x, const float* cosine, const float* sine, std::uint16_t* y) {
  for (std::int64_t j = 0; j < half; ++j) {
    const float a = to_float(x[j]), b = to_float(x[j + half]);
    y[j] = to_bf16(a * cosine[j] - b * sine[j]);
    y[j + half] = to_bf16(b * cosine[j] + a * sine[j]);
  }
}

} // namespace

// q [tokens, 32, 128], k [tokens, 8, 128], cache [max_position, 128], positions [tokens]
extern "C" int baseline(const std::uint16_t* q, const std::uint16_t* k, const float* cache,
                        const std::int32_t* positions, std::uint16_t* q_out, std::uint16_t* k_out,
                        std::int64_t tokens) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    const float* row = cache + std::int64_t{positions[t]} * dim;
    for (std::int64_t h = t * KW_AXIS_num_qo_heads; h < (t + 1) * KW_AXIS_num_qo_heads; ++h)
      rotate(q + h * dim, row, row + half, q_out + h * dim);
    for (std::int64_t h = t * KW_AXIS_num_kv_heads; h < (t + 1) * KW_AXIS_num_kv_heads; ++h)
      rotate(k + h * dim, row, row + half, k_out + h * dim);
  }
  return 0;
}
