// SPDX-License-Identifier: Apache-2.0
// The gated delta rule, 64 tokens at a time: what each token writes follows from the state before
// the chunk and from what the tokens before it in the chunk wrote, by forward substitution; decays
// are exponentials of differences of sums over the chunk (Yang et al., "Gated Delta Networks",
// 2024).
#include <cmath>
#include <cstdint>

namespace {

constexpr std::int64_t D = KW_AXIS_head_size, value_heads = KW_AXIS_num_v_heads,
                       key_heads = KW_AXIS_num_k_heads;
constexpr int chunk = 64, lanes = 16;
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

float dot(const float* x, const float* y) {
  float lane[lanes] = {}, total = 0;
  for (std::int64_t i = 0; i < D; i += lanes)
    for (int l = 0; l < lanes; ++l)
      lane[l] += x[i + l] * y[i + l];
  for (const float v : lane)
    total += v;
  return total;
}

struct Chunk {
  float key[chunk][D], query[chunk][D], beta[chunk];
  float decayed[chunk]; // e to the sum of log decays up to a token
  float keys[chunk][chunk],
      reads[chunk][chunk]; // key or query by an earlier key, with the decay between them
  float left[chunk];       // decay from a token to the end of the chunk
};

// One row of the state through a chunk of n tokens; v and o are `stride` elements apart.
void row(const Chunk& c, int n, const std::uint16_t* v, std::uint16_t* o, std::int64_t stride,
         float* state) {
  float written[chunk];
  for (int i = 0; i < n; ++i) {
    float predicted = c.decayed[i] * dot(state, c.key[i]),
          out = c.decayed[i] * dot(state, c.query[i]);
    for (int j = 0; j < i; ++j) {
      predicted += c.keys[i][j] * written[j];
      out += c.reads[i][j] * written[j];
    }
    written[i] = c.beta[i] * (to_float(v[i * stride]) - predicted);
    o[i * stride] = to_bf16(out + c.reads[i][i] * written[i]);
  }
  for (std::int64_t d = 0; d < D; ++d)
    state[d] *= c.decayed[n - 1];
  for (int j = 0; j < n; ++j)
    for (std::int64_t d = 0; d < D; ++d)
      state[d] += c.left[j] * written[j] * c.key[j][d];
}

} // namespace

extern "C" int kernel(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v,
                      const float* state, const float* A_log, const std::uint16_t* a,
                      const float* dt_bias, const std::uint16_t* b, const std::int64_t* cu_seqlens,
                      float scale, std::uint16_t* output, float* new_state, std::int64_t,
                      std::int64_t sequences, std::int64_t) {
  Chunk c;
  for (std::int64_t at = 0; at < sequences * value_heads; ++at) {
    const std::int64_t h = at % value_heads, begin = cu_seqlens[at / value_heads],
                       end = cu_seqlens[at / value_heads + 1];
    float* kept = new_state + at * D * D;
    for (std::int64_t i = 0; i < D * D; ++i)
      kept[i] = begin < end ? state[at * D * D + i] : 0;
    for (std::int64_t t = begin; t < end; t += chunk) {
      const int n = static_cast<int>(end - t < chunk ? end - t : chunk);
      float sums[chunk], sum = 0;
      for (int i = 0; i < n; ++i) {
        const std::int64_t gate = (t + i) * value_heads + h;
        const std::int64_t shared = ((t + i) * key_heads + h / (value_heads / key_heads)) * D;
        const float z = to_float(a[gate]) + dt_bias[h];
        const float w = expf(z < 0 ? z : -z), one_w = 1 + w;
        const float log1p_w = one_w == 1 ? w : logf(one_w) * (w / (one_w - 1));
        sums[i] = sum -= expf(A_log[h]) * ((z > 0 ? z : 0) + log1p_w);
        c.decayed[i] = expf(sum);
        c.beta[i] = 1 / (1 + expf(-to_float(b[gate])));
        for (std::int64_t d = 0; d < D; ++d) {
          c.key[i][d] = to_float(k[shared + d]);
          c.query[i][d] = scale * to_float(q[shared + d]);
        }
      }
      for (int i = 0; i < n; ++i) {
        c.left[i] = expf(sum - sums[i]);
        for (int j = 0; j <= i; ++j) {
          c.keys[i][j] = expf(sums[i] - sums[j]) * dot(c.key[i], c.key[j]);
          c.reads[i][j] = expf(sums[i] - sums[j]) * dot(c.query[i], c.key[j]);
        }
      }
      for (std::int64_t r = 0; r < D; ++r) {
        const std::int64_t first = (t * value_heads + h) * D + r;
        row(c, n, v + first, output + first, value_heads * D, kept + r * D);
      }
    }
  }
  return 0;
}
