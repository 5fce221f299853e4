// SPDX-License-Identifier: Apache-2.0
#include "tensor/random.hpp"

#include "base/hash.hpp"
#include "base/result.hpp"
#include "tensor/simd.hpp"

#include <bit>

namespace kw {
namespace {

/// Philox rounds on four words in registers.
KW_INLINE void rounds(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d,
                      std::uint32_t key0, std::uint32_t key1) {
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{a} * 0xD2511F53u;
    const std::uint64_t q = std::uint64_t{c} * 0xCD9E8D57u;
    a = static_cast<std::uint32_t>(q >> 32) ^ b ^ key0;
    c = static_cast<std::uint32_t>(p >> 32) ^ d ^ key1;
    b = static_cast<std::uint32_t>(q);
    d = static_cast<std::uint32_t>(p);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

/// -2 ln u for u = (k + 1/2) 2^-31, k < 2^31. ln m = 2 artanh((m-1)/(m+1)) with m in
/// [sqrt(1/2), sqrt 2): five terms of the series leave a relative error below 2e-9.
KW_INLINE float minus_two_log(std::uint32_t k) {
  const float u = static_cast<float>(static_cast<std::int32_t>(k)) * 0x1p-31F + 0x1p-32F;
  const auto bits = std::bit_cast<std::int32_t>(u);
  const std::int32_t exponent = (bits - 0x3f3504f3) >> 23; // 0x3f3504f3 is sqrt(1/2)
  const float m = std::bit_cast<float>(bits - exponent * (1 << 23));
  const float s = (m - 1.0F) / (m + 1.0F);
  const float t = s * s;
  const float series = 1.0F + t * (1.0F / 3 + t * (1.0F / 5 + t * (1.0F / 7 + t * (1.0F / 9))));
  return -2.0F * (static_cast<float>(exponent) * 0.693147180559945F + 2.0F * s * series);
}

/// Two independent standard normals from two words.
KW_INLINE void box_muller(std::uint32_t w0, std::uint32_t w1, float& z0, float& z1) {
  const float r = __builtin_sqrtf(minus_two_log(w0 >> 1));
  // Angle = w1 / 2^32 turns = quarter turns + remainder in [-1/8, 1/8) turn.
  const std::uint32_t quarter = (w1 + (1u << 29)) >> 30;
  const auto rest = static_cast<std::int32_t>(w1 - (quarter << 30));
  const float x = static_cast<float>(rest) * 1.46291807926716e-9F; // pi/2 * 2^-30
  const float t = x * x;
  const float sine =
      x * (1.0F + t * (-1.0F / 6 + t * (1.0F / 120 + t * (-1.0F / 5040 + t * (1.0F / 362880)))));
  const float cosine =
      1.0F + t * (-0.5F + t * (1.0F / 24 + t * (-1.0F / 720 + t * (1.0F / 40320))));
  const bool odd = (quarter & 1u) != 0;
  const float c = odd ? sine : cosine;
  const float s = odd ? cosine : sine;
  // cos changes sign in quarters 1 and 2, sin in quarters 2 and 3.
  const std::uint32_t flip_c = ((quarter + 1) & 2u) << 30;
  const std::uint32_t flip_s = (quarter & 2u) << 30;
  z0 = r * std::bit_cast<float>(std::bit_cast<std::uint32_t>(c) ^ flip_c);
  z1 = r * std::bit_cast<float>(std::bit_cast<std::uint32_t>(s) ^ flip_s);
}

constexpr std::size_t lanes = chunk_size / 4;
constexpr std::uint32_t high_word(Channel channel, std::uint64_t block) {
  return static_cast<std::uint32_t>(block >> 32) | (static_cast<std::uint32_t>(channel) << 28);
}

/// Word j of block b of a chunk becomes element 64 j + b, so that lanes stay lanes.
struct Fill {
  template <class Emit>
  KW_INLINE void each(const RandomStream& stream, Channel channel, std::uint64_t block, Emit emit) {
    const auto low = static_cast<std::uint32_t>(block);
    const std::uint32_t high = high_word(channel, block);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      std::uint32_t a = low + lane, b = high, c = stream.nonce0, d = stream.nonce1;
      rounds(a, b, c, d, stream.key0, stream.key1);
      emit.put(lane, a, b, c, d);
    }
  }
};
struct EmitWords {
  std::uint32_t* __restrict out;
  [[gnu::always_inline]] void put(std::uint32_t lane, std::uint32_t a, std::uint32_t b,
                                  std::uint32_t c, std::uint32_t d) const {
    out[lane] = a, out[lanes + lane] = b, out[2 * lanes + lane] = c, out[3 * lanes + lane] = d;
  }
};
struct EmitNormals {
  float* __restrict out;
  [[gnu::always_inline]] void put(std::uint32_t lane, std::uint32_t a, std::uint32_t b,
                                  std::uint32_t c, std::uint32_t d) const {
    float z0 = 0, z1 = 0, z2 = 0, z3 = 0;
    box_muller(a, b, z0, z1);
    box_muller(c, d, z2, z3);
    out[lane] = z0, out[lanes + lane] = z1, out[2 * lanes + lane] = z2, out[3 * lanes + lane] = z3;
  }
};
template <class Emit, class T> struct FillChunks {
  KW_INLINE void run(RandomStream stream, Channel channel, std::uint64_t first, T* out,
                     std::size_t n) {
    for (std::size_t at = 0; at < n; at += chunk_size)
      Fill::each(stream, channel, (first + at) / 4, Emit{out + at});
  }
};

template <class Emit, class T>
void fill_chunks(const RandomStream& stream, Channel channel, std::uint64_t first,
                 std::span<T> out) {
  KW_ASSERT(first % chunk_size == 0 && out.size() % chunk_size == 0);
  run_widest<FillChunks<Emit, T>>(stream, channel, first, out.data(), out.size());
}

} // namespace

RandomWords philox(RandomWords counter, std::uint32_t key0, std::uint32_t key1) {
  rounds(counter[0], counter[1], counter[2], counter[3], key0, key1);
  return counter;
}

RandomStream RandomStream::of(const Seed& seed, std::uint64_t trial, std::uint32_t tensor) {
  Digest digest;
  digest.field("kernwright inputs 1");
  digest.field({reinterpret_cast<const char*>(seed.data()), seed.size()});
  std::array<char, 12> index{};
  for (std::size_t i = 0; i < 8; ++i)
    index[i] = static_cast<char>(trial >> (8 * i));
  for (std::size_t i = 0; i < 4; ++i)
    index[8 + i] = static_cast<char>(tensor >> (8 * i));
  digest.field({index.data(), index.size()});
  const std::string hex = digest.hex();
  const auto word = [&](std::size_t i) {
    return static_cast<std::uint32_t>(std::stoul(hex.substr(8 * i, 8), nullptr, 16));
  };
  return {word(0), word(1), word(2), word(3)};
}

RandomWords RandomStream::at(Channel channel, std::uint64_t index) const {
  return philox({static_cast<std::uint32_t>(index), high_word(channel, index), nonce0, nonce1},
                key0, key1);
}

void random_words(const RandomStream& stream, std::uint64_t first, std::span<std::uint32_t> out) {
  fill_chunks<EmitWords>(stream, Channel::words, first, out);
}
void random_normals(const RandomStream& stream, std::uint64_t first, std::span<float> out) {
  fill_chunks<EmitNormals>(stream, Channel::normals, first, out);
}

} // namespace kw
