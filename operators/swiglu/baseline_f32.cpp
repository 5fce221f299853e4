// SPDX-License-Identifier: Apache-2.0
// silu(gate) * up, one element after the other.
#include <cmath>
#include <cstdint>

// gate, up, y [tokens, d]
extern "C" int baseline(const float* gate, const float* up, float* y, std::int64_t tokens) {
  constexpr std::int64_t d = KW_AXIS_intermediate_size;
  for (std::int64_t i = 0; i < tokens * d; ++i)
    y[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
  return 0;
}
