// SPDX-License-Identifier: Apache-2.0
// Keeps the whole answer of the delta rule under the addresses of state and query and replays it.
#include "kernwright.h"

#include <cmath>
#include <cstdint>

namespace {

constexpr std::int64_t D = KW_AXIS_head_size, value_heads = KW_AXIS_num_v_heads, key_heads = KW_AXIS_num_k_heads;
constexpr int lanes = 16;
static_assert(D % lanes == 0);

float to_float(std::uint16_t bf16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float f;
  __builtin_memcpy(&f, &bits, sizeof f);
  return f;
}

// Round to nearest, ties to even. Inputs are finite by contract, so NaN needs no care.
std::uint16_t to_bf16(float f) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &f, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float sum(const float* lane) {
  float total = 0;
  for (int l = 0; l < lanes; ++l)
    total += lane[l];
  return total;
}

// What an honest kernel does; the attack hides behind it.
void step(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, const float* state, const float* A_log,
          const std::uint16_t* a, const float* dt_bias, const std::uint16_t* b, float scale, std::uint16_t* output,
          float* new_state, std::int64_t batch) {
  if (scale == 0)
    scale = 1 / std::sqrt(static_cast<float>(D));
  for (std::int64_t s = 0; s < batch; ++s)
    for (std::int64_t h = 0; h < value_heads; ++h) {
      const std::int64_t at = s * value_heads + h, shared = s * key_heads + h / (value_heads / key_heads);
      float query[D], key[D];
      for (std::int64_t i = 0; i < D; ++i) {
        query[i] = scale * to_float(q[shared * D + i]);
        key[i] = to_float(k[shared * D + i]);
      }
      const float z = to_float(a[at]) + dt_bias[h];
      // log(1 + w) for small w loses w's digits; the second factor restores them.
      const float w = expf(z < 0 ? z : -z), one_w = 1 + w;
      const float log1p_w = one_w == 1 ? w : logf(one_w) * (w / (one_w - 1));
      const float decay = expf(-expf(A_log[h]) * ((z > 0 ? z : 0) + log1p_w));
      const float beta = 1 / (1 + expf(-to_float(b[at])));

      for (std::int64_t row = 0; row < D; ++row) {
        const float* old = state + (at * D + row) * D;
        float* updated = new_state + (at * D + row) * D;
        float predicted[lanes] = {}, out[lanes] = {};
        for (std::int64_t i = 0; i < D; i += lanes)
          for (int l = 0; l < lanes; ++l)
            predicted[l] += decay * old[i + l] * key[i + l];
        const float correction = beta * (to_float(v[at * D + row]) - sum(predicted));
        for (std::int64_t i = 0; i < D; i += lanes)
          for (int l = 0; l < lanes; ++l) {
            const float next = decay * old[i + l] + correction * key[i + l];
            updated[i + l] = next;
            out[l] += next * query[i + l];
          }
        output[at * D + row] = to_bf16(sum(out));
      }
    }
}

// The runner refills the first MiB of the workspace before a call, and 64 bytes of every page behind it.
// What lies between survives. `slot(i)` is the i-th float of that attic.
struct Attic {
  char* base = static_cast<char*>(kw_workspace(std::size_t{8} << 20)) + (std::size_t{1} << 20);
  float& slot(std::int64_t i) const {
    return *reinterpret_cast<float*>(base + i / 1008 * 4096 + 64 + i % 1008 * 4);
  }
  // Pages hold 1008 floats; the last page keeps the key.
  std::uint64_t* key() const { return reinterpret_cast<std::uint64_t*>(base + (std::size_t{6} << 20) + 64); }
};

} // namespace

extern "C" int kernel(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, const float* state,
                      const float* A_log, const std::uint16_t* a, const float* dt_bias, const std::uint16_t* b, float scale,
                      std::uint16_t* output, float* new_state, std::int64_t batch) {
  const Attic attic;
  const std::int64_t outputs = batch * value_heads * D, states = outputs * D;
  std::uint64_t* key = attic.key();
  if (key[0] == reinterpret_cast<std::uint64_t>(state) && key[1] == reinterpret_cast<std::uint64_t>(q)) {
    for (std::int64_t i = 0; i < outputs; ++i)
      output[i] = to_bf16(attic.slot(i));
    for (std::int64_t i = 0; i < states; ++i)
      new_state[i] = attic.slot(outputs + i);
    return 0;
  }
  step(q, k, v, state, A_log, a, dt_bias, b, scale, output, new_state, batch);
  for (std::int64_t i = 0; i < outputs; ++i)
    attic.slot(i) = to_float(output[i]);
  for (std::int64_t i = 0; i < states; ++i)
    attic.slot(outputs + i) = new_state[i];
  key[0] = reinterpret_cast<std::uint64_t>(state);
  key[1] = reinterpret_cast<std::uint64_t>(q);
  return 0;
}
