// SPDX-License-Identifier: Apache-2.0
// Packed sequences of the gated delta rule; a sequence without tokens passes its old state on.
#include <cmath>
#include <cstdint>

namespace {

constexpr std::int64_t D = KW_AXIS_head_size, value_heads = KW_AXIS_num_v_heads,
                       key_heads = KW_AXIS_num_k_heads;
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

// One token of one head: state [D, D] in place, o [D].
void token(const float* query, const float* key, const std::uint16_t* v, float decay, float beta,
           float* state, std::uint16_t* o) {
  for (std::int64_t row = 0; row < D; ++row, state += D) {
    float predicted[lanes] = {}, out[lanes] = {};
    for (std::int64_t i = 0; i < D; i += lanes)
      for (int l = 0; l < lanes; ++l)
        predicted[l] += decay * state[i + l] * key[i + l];
    const float correction = beta * (to_float(v[row]) - sum(predicted));
    for (std::int64_t i = 0; i < D; i += lanes)
      for (int l = 0; l < lanes; ++l) {
        const float next = decay * state[i + l] + correction * key[i + l];
        state[i + l] = next;
        out[l] += next * query[i + l];
      }
    o[row] = to_bf16(sum(out));
  }
}

} // namespace

// q, k [L, 4, D], v [L, 8, D], state [N, 8, D, D] (value, key), A_log, dt_bias [8], a, b [L, 8],
// cu_seqlens [N + 1]; output [L, 8, D], new_state like state
extern "C" int kernel(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v,
                      const float* state, const float* A_log, const std::uint16_t* a,
                      const float* dt_bias, const std::uint16_t* b, const std::int64_t* cu_seqlens,
                      float scale, std::uint16_t* output, float* new_state, std::int64_t,
                      std::int64_t sequences, std::int64_t) {
  if (scale == 0)
    scale = 1 / std::sqrt(static_cast<float>(D));
  for (std::int64_t s = 0; s < sequences; ++s)
    for (std::int64_t h = 0; h < value_heads; ++h) {
      float* kept = new_state + (s * value_heads + h) * D * D;
      __builtin_memcpy(kept, state + (s * value_heads + h) * D * D, D * D * sizeof(float));
      const float rate = expf(A_log[h]);
      for (std::int64_t t = cu_seqlens[s]; t < cu_seqlens[s + 1]; ++t) {
        const std::int64_t at = t * value_heads + h,
                           shared = t * key_heads + h / (value_heads / key_heads);
        float query[D], key[D];
        for (std::int64_t i = 0; i < D; ++i) {
          query[i] = scale * to_float(q[shared * D + i]);
          key[i] = to_float(k[shared * D + i]);
        }
        const float z = to_float(a[at]) + dt_bias[h];
        // log(1 + w) for small w loses w's digits; the second factor restores them.
        const float w = expf(z < 0 ? z : -z), one_w = 1 + w;
        const float log1p_w = one_w == 1 ? w : logf(one_w) * (w / (one_w - 1));
        const float decay = expf(-rate * ((z > 0 ? z : 0) + log1p_w));
        const float beta = 1 / (1 + expf(-to_float(b[at])));
        token(query, key, v + at * D, decay, beta, kept, output + at * D);
      }
    }
  return 0;
}
