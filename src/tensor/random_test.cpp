// SPDX-License-Identifier: Apache-2.0
#include "tensor/random.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace kw {
namespace {

TEST(Philox, KnownAnswers) { // Random123's published vectors for philox4x32-10
  EXPECT_EQ(philox({0, 0, 0, 0}, 0, 0),
            (RandomWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffffu;
  EXPECT_EQ(philox({ones, ones, ones, ones}, ones, ones),
            (RandomWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (RandomWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, EverySeedTrialAndTensorHasItsOwnSequence) {
  Seed seed{};
  const RandomWords base = RandomStream::of(seed, 1, 2).at(Channel::words, 0);
  EXPECT_EQ(base, RandomStream::of(seed, 1, 2).at(Channel::words, 0));
  EXPECT_NE(base, RandomStream::of(seed, 2, 2).at(Channel::words, 0));
  EXPECT_NE(base, RandomStream::of(seed, 1, 3).at(Channel::words, 0));
  EXPECT_NE(base, RandomStream::of(seed, 1, 2).at(Channel::rows, 0));
  EXPECT_NE(base, RandomStream::of(seed, 1, 2).at(Channel::words, 1));
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Seed other = seed;
    other[bit / 8] = static_cast<std::uint8_t>(1u << (bit % 8));
    EXPECT_NE(base, RandomStream::of(other, 1, 2).at(Channel::words, 0)) << bit;
  }
}

TEST(RandomStream, BulkWordsAreTheBlocks) {
  const RandomStream stream = RandomStream::of(Seed{1}, 7, 0);
  const std::uint64_t first =
      (std::uint64_t{1} << 34) - chunk_size; // crosses a 32-bit block number
  std::vector<std::uint32_t> words(2 * chunk_size);
  random_words(stream, first, words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t chunk = (first + i) / chunk_size;
    const std::size_t within = i % chunk_size;
    EXPECT_EQ(words[i], stream.at(Channel::words, chunk * 64 + within % 64)[within / 64]) << i;
  }
}

/// 2^20 draws: moments within five standard errors, tails and independence as they should be.
TEST(Normals, MomentsAndTails) {
  std::vector<float> z(1 << 20);
  random_normals(RandomStream::of(Seed{3}, 0, 0), 0, z);
  const auto n = static_cast<double>(z.size());
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, lag = 0, far = 0, very_far = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double x = static_cast<double>(z[i]);
    ASSERT_TRUE(std::abs(x) < 6.67);
    m1 += x, m2 += x * x, m3 += x * x * x, m4 += x * x * x * x;
    lag += x * static_cast<double>(z[(i + 64) % z.size()]); // the other half of Box-Muller
    far += std::abs(x) > 3, very_far += std::abs(x) > 4.5;
  }
  const double se = 1 / std::sqrt(n);
  EXPECT_NEAR(m1 / n, 0, 5 * se);
  EXPECT_NEAR(m2 / n, 1, 5 * std::sqrt(2) * se);
  EXPECT_NEAR(m3 / n, 0, 5 * std::sqrt(15) * se);
  EXPECT_NEAR(m4 / n, 3, 5 * std::sqrt(96) * se);
  EXPECT_NEAR(lag / n, 0, 5 * se);
  EXPECT_NEAR(far / n, 0.0026998, 5 * std::sqrt(0.0027) * se);
  EXPECT_NEAR(very_far, 6.795e-6 * n, 5 * std::sqrt(6.795e-6 * n));
}

/// The distribution function itself, by the Kolmogorov-Smirnov distance on a grid.
TEST(Normals, DistributionFunction) {
  std::vector<float> z(1 << 18);
  random_normals(RandomStream::of(Seed{4}, 0, 0), 0, z);
  for (double at = -3; at <= 3; at += 0.125) {
    double below = 0;
    for (const float x : z)
      below += static_cast<double>(x) < at;
    const double want = 0.5 * std::erfc(-at / std::sqrt(2.0));
    EXPECT_NEAR(below / static_cast<double>(z.size()), want, 2.2 / std::sqrt(1 << 18)) << at;
  }
}

} // namespace
} // namespace kw
