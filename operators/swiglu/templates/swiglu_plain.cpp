// SPDX-License-Identifier: Apache-2.0
// output = gate * sigmoid(gate) * up in one loop that the compiler vectorises.
//
//   BF16   1: bf16 in and out
//   BLOCK  elements per inner loop
#include "kernwright.h"

namespace KW_NAMESPACE {

#if KW_P_BF16
typedef uint16_t element;
#else
typedef float element;
#endif

constexpr int64_t D = KW_AXIS_intermediate_size, BLOCK = KW_P_BLOCK;

static inline float widen(float x) { return x; }
static inline float widen(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}
static inline void store(float* p, float x) { *p = x; }
/// Rounds to nearest even; a NaN made by arithmetic or widened from bf16 stays one.
static inline void store(uint16_t* p, float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  *p = static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// 1 / (1 + e^-x); 0 where e^-x would overflow.
static inline float sigmoid(float x) {
  const float t = -x;
  const float c = t > 88.0f ? 88.0f : t < -87.3f ? -87.3f : t;
  const float shifted = c * 1.44269504f + 12582912.0f; // low bits hold n = round(c / ln 2)
  const float n = shifted - 12582912.0f;
  float r = c - n * 0.693145752f; // exact: 16 bits
  r = r - n * 1.42860677e-6f;
  float p = r * 0.00138367421f + 0.00837489869f;
  p = p * r + 0.0416682325f;
  p = p * r + 0.166664198f;
  p = p * r + 0.499999911f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const float e = __builtin_bit_cast(
      float, __builtin_bit_cast(uint32_t, p) + (__builtin_bit_cast(uint32_t, shifted) << 23));
  return t > 88.0f ? 0.0f : 1.0f / (1.0f + e);
}

struct Call {
  const element *gate, *up;
  element* out;
  int64_t n, tasks;
};

static void some_elements(void* context, int64_t task) {
  const Call& c = *static_cast<Call*>(context);
  const int64_t end = c.n * (task + 1) / c.tasks;
  for (int64_t first = c.n * task / c.tasks; first < end; first += BLOCK) {
    const int64_t last = first + BLOCK < end ? first + BLOCK : end;
#pragma GCC ivdep
    for (int64_t i = first; i < last; ++i) {
      const float g = widen(c.gate[i]);
      store(c.out + i, g * sigmoid(g) * widen(c.up[i]));
    }
  }
}

static int KW_ENTRY(const element* gate, const element* up, element* out, int64_t tokens) {
  Call c = {gate, up, out, tokens * D, kw_threads()};
  kw_parallel_for(c.tasks, some_elements, &c);
  return 0;
}

} // namespace KW_NAMESPACE
