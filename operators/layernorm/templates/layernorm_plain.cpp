// SPDX-License-Identifier: Apache-2.0
// Layer normalisation in three loops that the compiler vectorises.
//
//   LANES  independent sums
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int64_t H = KW_AXIS_hidden_size;
constexpr int LANES = KW_P_LANES;
constexpr int64_t WHOLE = H / LANES * LANES;

struct Call {
  const float *x, *weight, *bias;
  float* y;
  int64_t rows, tasks;
};

/// The mean of f(i) over the row.
template <class F>
static inline float mean(const F& f) {
  float lanes[LANES] = {}, total = 0;
  for (int64_t i = 0; i < WHOLE; i += LANES)
    for (int l = 0; l < LANES; ++l)
      lanes[l] += f(i + l);
  for (int64_t i = WHOLE; i < H; ++i)
    total += f(i);
  for (int l = 0; l < LANES; ++l)
    total += lanes[l];
  return total / H;
}

static void some_rows(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t end = c.rows * (task + 1) / c.tasks;
  for (int64_t row = c.rows * task / c.tasks; row < end; ++row) {
    const float* x = c.x + row * H;
    float* y = c.y + row * H;
    const float middle = mean([&](int64_t i) { return x[i]; });
    const float variance = mean([&](int64_t i) { return (x[i] - middle) * (x[i] - middle); });
    const float scale = 1.0f / __builtin_sqrtf(variance + 1e-5f);
    for (int64_t i = 0; i < H; ++i)
      y[i] = (x[i] - middle) * scale * c.weight[i] + c.bias[i];
  }
}

static int KW_ENTRY(const float* x, const float* weight, const float* bias, float* y,
                    int64_t rows) {
  Call c = {x, weight, bias, y, rows, kw_threads()};
  kw_parallel_for(c.tasks, some_rows, &c);
  return 0;
}

} // namespace KW_NAMESPACE
