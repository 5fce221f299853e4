// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "tensor/convert.hpp"
#include "tensor/generate.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace kw {
namespace {

const Seed seed{2, 7, 1, 8};
constexpr std::int64_t tokens = 8, dim = 12; ///< of a page: 96 bytes of vectors, 32 of scales

DrawSpec spec(std::int64_t pages) {
  DrawSpec s;
  s.dtype = DType::int8, s.shape = {pages, tokens, 1, dim + 4}, s.kind = "fp8_pages";
  return s;
}

struct Cache {
  std::vector<std::byte> bytes;
  std::vector<std::vector<std::uint8_t>> codes; ///< by token
  std::vector<float> scales;
};

Cache drawn(std::int64_t pages, InputClass cls, std::uint64_t trial) {
  Cache c;
  c.bytes.resize(static_cast<std::size_t>(pages * tokens * (dim + 4)));
  draw(spec(pages), cls, seed, trial, 1, c.bytes);
  const auto* at = reinterpret_cast<const std::uint8_t*>(c.bytes.data());
  for (std::int64_t p = 0; p < pages; ++p, at += tokens * (dim + 4))
    for (std::int64_t t = 0; t < tokens; ++t) {
      c.codes.emplace_back(at + t * dim, at + (t + 1) * dim);
      float scale = 0;
      std::memcpy(&scale, at + tokens * dim + 4 * t, sizeof scale);
      c.scales.push_back(scale);
    }
  return c;
}

double value(std::uint8_t code) {
  const auto byte = static_cast<std::byte>(code);
  return element(DType::float8_e4m3fn, std::span(&byte, 1), 0);
}

TEST(Fp8Pages, HoldNumbersAndPositiveScales) {
  for (const InputClass cls : applicable_classes(spec(1)))
    for (std::uint64_t trial = 0; trial < 8; ++trial) {
      const Cache c = drawn(40, cls, trial);
      for (const auto& vector : c.codes)
        for (const std::uint8_t code : vector)
          ASSERT_NE(code & 0x7f, 0x7f) << name(cls);
      for (const float s : c.scales)
        ASSERT_TRUE(std::isnormal(s) && s > 0 && s < 1e6F) << name(cls) << ' ' << s;
    }
}

TEST(Fp8Pages, ClassesAreWhatTheyAreCalled) {
  const auto codes_of = [](InputClass cls) {
    std::map<int, int> count;
    for (const auto& vector : drawn(40, cls, 1).codes)
      for (const std::uint8_t code : vector)
        ++count[code];
    return count;
  };
  using enum InputClass;
  EXPECT_EQ(codes_of(uniform).size(), 254U) << "all that are numbers";
  EXPECT_EQ(codes_of(denormals).size(), 16U);
  EXPECT_EQ(codes_of(max_finite).size(), 2U);
  EXPECT_EQ(codes_of(small_integers).size(), 10U);
  double sum = 0, squares = 0, n = 0;
  for (const auto& [code, count] : codes_of(normal)) {
    sum += value(static_cast<std::uint8_t>(code)) * count;
    squares +=
        value(static_cast<std::uint8_t>(code)) * value(static_cast<std::uint8_t>(code)) * count;
    n += count;
  }
  EXPECT_NEAR(sum / n, 0, 15);
  EXPECT_NEAR(std::sqrt(squares / n), 153, 10);
  for (const auto& vector : drawn(40, impulse, 1).codes)
    EXPECT_EQ(std::count_if(vector.begin(), vector.end(), [](int c) { return c != 0; }), 1);
  const Cache tied = drawn(40, ties, 1);
  EXPECT_EQ(std::set(tied.codes.begin(), tied.codes.end()).size(), 4U);
  EXPECT_EQ(std::set(tied.scales.begin(), tied.scales.end()).size(), 1U);
  const Cache varied = drawn(40, normal, 1);
  EXPECT_GT(std::set(varied.scales.begin(), varied.scales.end()).size(), 310U);
  const auto [low, high] = [] {
    const Cache c = drawn(40, row_scales, 1);
    const auto both = std::minmax_element(c.scales.begin(), c.scales.end());
    return std::pair(*both.first, *both.second);
  }();
  EXPECT_GT(high / low, 0x1p35F);
}

/// Scores of one vector are as near to each other as its scales: from a few steps to an octave.
TEST(Fp8Pages, NearTiesHaveOneVectorAndNearScales) {
  int lone = 0, narrow = 0, wide = 0, two = 0;
  for (std::uint64_t trial = 0; trial < 64; ++trial) {
    const Cache c = drawn(40, InputClass::near_ties, trial);
    ASSERT_EQ(std::set(c.codes.begin(), c.codes.end()).size(), 1U);
    lone += std::count_if(c.codes[0].begin(), c.codes[0].end(), [](int x) { return x != 0; }) == 1;
    const auto both = std::minmax_element(c.scales.begin(), c.scales.end());
    const float ratio = *both.second / *both.first;
    ASSERT_LE(ratio, 2.0001F);
    narrow += ratio < 1.0001F, wide += ratio > 1.05F;
    two += std::set(c.scales.begin(), c.scales.end()).size() == 2;
  }
  for (const int seen : {lone, narrow, wide, two})
    EXPECT_GE(seen, 6);
}

TEST(Fp8Pages, AnyRangeReplaysAlone) {
  for (const InputClass cls : applicable_classes(spec(1))) {
    const Cache whole = drawn(40, cls, 3);
    for (const std::int64_t first : {0, 5, 95, 97, 127, 1023, 1030}) {
      std::vector<std::byte> part(2100);
      draw_range(spec(40), cls, seed, 3, 1, first, 2100, part);
      ASSERT_TRUE(std::equal(part.begin(), part.end(), whole.bytes.begin() + first)) << name(cls);
    }
  }
}

/// Recorded seeds must replay for ever; tests/reference/pages.py draws the same.
TEST(Fp8Pages, BitsAreFrozen) {
  std::string all;
  for (const InputClass cls : applicable_classes(spec(1)))
    for (std::uint64_t trial = 0; trial < 8; ++trial) {
      const Cache c = drawn(20, cls, trial);
      all.append(reinterpret_cast<const char*>(c.bytes.data()), c.bytes.size());
    }
  EXPECT_EQ(sha256_hex(all), "79a6007de1c6d1f6866404601ab039045b62ca51c0862ced40b232b07b078b5a");
}

} // namespace
} // namespace kw
