// SPDX-License-Identifier: Apache-2.0
// Counter-based randomness: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011), keyed per (seed, trial, tensor) by SHA-256. A kernel that worked out the key
// of a tensor it has seen still learns nothing about another trial: the hash does not invert.
#pragma once

#include "tensor/generate.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace kw {

using RandomWords = std::array<std::uint32_t, 4>;

/// One application of the block function.
RandomWords philox(RandomWords counter, std::uint32_t key0, std::uint32_t key1);

/// Independent sequences of one tensor.
enum class Channel : std::uint32_t { normals, words, rows, tensor };

/// The random sequences of one tensor in one trial.
struct RandomStream {
  std::uint32_t key0 = 0, key1 = 0, nonce0 = 0, nonce1 = 0;
  static RandomStream of(const Seed& seed, std::uint64_t trial, std::uint32_t tensor);
  /// Four words of block `index` of a channel.
  [[nodiscard]] RandomWords at(Channel channel, std::uint64_t index) const;
};

/// Sequences are produced in chunks: element e of a sequence is in chunk e / chunk_size.
constexpr std::size_t chunk_size = 256;

/// Fills whole chunks, `out.size()` a multiple of chunk_size, from element `first` (also a
/// multiple).
void random_words(const RandomStream& stream, std::uint64_t first, std::span<std::uint32_t> out);
/// Standard normal by Box-Muller, |z| < 6.67; the same bits on every machine.
void random_normals(const RandomStream& stream, std::uint64_t first, std::span<float> out);

} // namespace kw
