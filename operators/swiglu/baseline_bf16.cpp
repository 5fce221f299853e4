// SPDX-License-Identifier: Apache-2.0
// silu(gate) * up in fp32, one element after the other, bf16 at both ends.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

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

} // namespace

// gate, up, y [tokens, d]
extern "C" int baseline(const std::uint16_t* gate, const std::uint16_t* up, std::uint16_t* y, std::int64_t tokens) {
  constexpr std::int64_t d = KW_AXIS_intermediate_size;
  for (std::int64_t i = 0; i < tokens * d; ++i) {
    const float g = to_float(gate[i]);
    y[i] = to_bf16(g / (1 + expf(-g)) * to_float(up[i]));
  }
  return 0;
}
