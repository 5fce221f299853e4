// SPDX-License-Identifier: Apache-2.0
// Row softmax in three loops that the compiler vectorises.
//
//   LANES   independent maxima and sums
//   DEGREE  of the polynomial in e^r, r in [-ln 2 / 2, ln 2 / 2]: 5 or 6
#include "kernwright.h"

namespace KW_NAMESPACE {

constexpr int LANES = KW_P_LANES;

/// e^x for x <= 0: e^r 2^n with n rounded by adding a large number; 0 below 2^-126.
static inline float exp_of(float x) {
  const float c = x < -87.3f ? -87.3f : x;
  const float shifted = c * 1.44269504f + 12582912.0f; // low bits hold n
  const float n = shifted - 12582912.0f;
  float r = c - n * 0.693145752f; // exact: 16 bits
  r = r - n * 1.42860677e-6f;
#if KW_P_DEGREE == 5
  float p = r * 0.00829758402f + 0.0419158749f;
  p = p * r + 0.166675776f;
  p = p * r + 0.499988914f;
  p = p * r + 0.999999702f;
  p = p * r + 1.00000012f;
#else
  float p = r * 0.00138367421f + 0.00837489869f;
  p = p * r + 0.0416682325f;
  p = p * r + 0.166664198f;
  p = p * r + 0.499999911f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
#endif
  const uint32_t scaled = __builtin_bit_cast(uint32_t, p) +
                          (__builtin_bit_cast(uint32_t, shifted) << 23);
  return x < -87.3f ? 0.0f : __builtin_bit_cast(float, scaled);
}

struct Call {
  const float* x;
  float* y;
  int64_t rows, n, tasks;
};

static inline void row(const float* x, float* y, int64_t n) {
  float most[LANES], total[LANES] = {};
  const int64_t whole = n / LANES * LANES;
  for (int l = 0; l < LANES; ++l)
    most[l] = x[0];
  for (int64_t i = 0; i < whole; i += LANES)
    for (int l = 0; l < LANES; ++l)
      most[l] = x[i + l] > most[l] ? x[i + l] : most[l];
  float max = x[0], sum = 0;
  for (int l = 0; l < LANES; ++l)
    max = most[l] > max ? most[l] : max;
  for (int64_t i = whole; i < n; ++i)
    max = x[i] > max ? x[i] : max;
  for (int64_t i = 0; i < whole; i += LANES)
    for (int l = 0; l < LANES; ++l) {
      const float e = exp_of(x[i + l] - max);
      y[i + l] = e;
      total[l] += e;
    }
  for (int64_t i = whole; i < n; ++i)
    sum += y[i] = exp_of(x[i] - max);
  for (int l = 0; l < LANES; ++l)
    sum += total[l];
  const float scale = 1.0f / sum;
  for (int64_t i = 0; i < n; ++i)
    y[i] *= scale;
}

static void some_rows(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t end = c.rows * (task + 1) / c.tasks;
  for (int64_t i = c.rows * task / c.tasks; i < end; ++i)
    row(c.x + i * c.n, c.y + i * c.n, c.n);
}

static int KW_ENTRY(const float* x, float* y, int64_t rows, int64_t n) {
  Call c = {x, y, rows, n, kw_threads()};
  kw_parallel_for(c.tasks, some_rows, &c);
  return 0;
}

} // namespace KW_NAMESPACE
