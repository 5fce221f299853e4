// SPDX-License-Identifier: Apache-2.0
#include "judge/held.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

const Seed seed{1, 2, 3}, other_seed{3, 2, 1};

DrawSpec weights(DType dtype = DType::float8_e4m3fn) {
  return {.dtype = dtype, .shape = {64, 128, 256}, .kind = "normal"};
}
std::vector<std::byte> content(HeldTensor& held, const DrawSpec& spec, std::uint64_t trial,
                               const Seed& of = seed, int workers = 1) {
  std::vector<std::byte> out(byte_size(spec.dtype, 64 * 128 * 256));
  held.fill({.spec = spec,
             .base = InputClass::normal,
             .cls = InputClass::normal,
             .seed = of,
             .trial = trial,
             .tensor = 5},
            held_runs(spec, of, trial, 5), workers, out);
  return out;
}
std::size_t differing(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    n += a[i] != b[i] ? 1 : 0;
  return n;
}

TEST(Held, ATrialIsAFunctionOfSeedAndNumberAlone) {
  HeldTensor one, two;
  content(one, weights(), 1);
  content(one, weights(), 2);
  EXPECT_EQ(content(one, weights(), 7), content(two, weights(), 7, seed, 2));
  EXPECT_NE(content(one, weights(), 7, other_seed), content(two, weights(), 7));
}

TEST(Held, EveryTrialHasRunsOfItsOwnAndTheRestIsKept) {
  HeldTensor held;
  const std::vector<std::byte> a = content(held, weights(), 1), b = content(held, weights(), 2);
  const std::size_t changed = differing(a, b);
  EXPECT_GT(changed, a.size() / 500);
  EXPECT_LT(changed, a.size() / 20);
  std::vector<bool> covered(a.size());
  for (const std::uint64_t trial : {1U, 2U})
    for (const HeldRun& run : held_runs(weights(), seed, trial, 5))
      for (std::int64_t i = run.first; i < run.first + run.count; ++i)
        covered[static_cast<std::size_t>(i)] = true;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(covered[i] || a[i] == b[i]) << i;
}

TEST(Held, RunsHaveTheContentOfAFreshDraw) {
  HeldTensor held;
  const DrawSpec spec = weights(DType::float32);
  const std::vector<std::byte> a = content(held, spec, 3);
  std::vector<std::byte> fresh(a.size());
  draw(spec, InputClass::normal, seed, 3, 5, fresh);
  for (const HeldRun& run : held_runs(spec, seed, 3, 5)) {
    const auto at = static_cast<std::ptrdiff_t>(run.first * 4),
               n = static_cast<std::ptrdiff_t>(run.count * 4);
    EXPECT_TRUE(std::equal(a.begin() + at, a.begin() + at + n, fresh.begin() + at));
  }
}

TEST(Held, RunsStayInsideAndAreOfManyLengths) {
  std::size_t shortest = 0, longest = 0;
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const std::vector<HeldRun> runs = held_runs(weights(), seed, trial, 5);
    EXPECT_EQ(runs.size(), 32U);
    for (const HeldRun& run : runs) {
      EXPECT_GE(run.first, 0);
      EXPECT_GT(run.count, 0);
      EXPECT_LE(run.first + run.count, 64 * 128 * 256);
      shortest += run.count <= 2 ? 1 : 0, longest += run.count >= 2048 ? 1 : 0;
    }
  }
  EXPECT_GT(shortest, 100U);
  EXPECT_GT(longest, 100U);
  for (const HeldRun& run : held_runs({.dtype = DType::float4_e2m1, .shape = {6}}, seed, 0, 0)) {
    EXPECT_EQ(run.first % 2, 0);
    EXPECT_EQ(run.count % 2, 0);
  }
  EXPECT_TRUE(held_runs({.dtype = DType::float32, .shape = {0, 4}}, seed, 0, 0).empty());
}

TEST(Held, TheSameMemoryHasWhatFreshMemoryWouldHave) {
  HeldTensor held;
  const DrawSpec spec = weights();
  std::vector<std::byte> out(64 * 128 * 256);
  const auto fill = [&](std::uint64_t trial, const Seed& of) {
    held.fill({.spec = spec,
               .base = InputClass::normal,
               .cls = InputClass::sparse,
               .seed = of,
               .trial = trial,
               .tensor = 5},
              held_runs(spec, of, trial, 5), 2, out);
  };
  for (const std::uint64_t trial : {1U, 2U, 2U, 3U}) {
    fill(trial, seed);
    std::vector<std::byte> fresh(out.size());
    HeldTensor other;
    other.fill({.spec = spec,
                .base = InputClass::normal,
                .cls = InputClass::sparse,
                .seed = seed,
                .trial = trial,
                .tensor = 5},
               held_runs(spec, seed, trial, 5), 1, fresh);
    EXPECT_EQ(out, fresh);
  }
  const std::vector<std::byte> before = out;
  out[17] ^= std::byte{1}, out[1 << 20] ^= std::byte{1};
  held.forget();
  fill(3, seed);
  EXPECT_EQ(out, before);
  fill(3, other_seed);
  EXPECT_GT(differing(out, before), out.size() / 2);
}

TEST(Held, ABaseMayRepeatItself) {
  HeldTensor held;
  const DrawSpec spec = weights(DType::bfloat16);
  constexpr std::int64_t period = 1000, elements = 64 * 128 * 256;
  std::vector<std::byte> out(elements * 2);
  const auto fill = [&](std::uint64_t trial, std::vector<HeldRun> runs) {
    held.fill({.spec = spec,
               .base = InputClass::normal,
               .cls = InputClass::normal,
               .seed = seed,
               .trial = trial,
               .tensor = 5,
               .period = period},
              std::move(runs), 2, out);
  };
  fill(1, {{.first = 990, .count = 2020}});
  const std::vector<std::byte> whole = out;
  EXPECT_TRUE(std::equal(whole.begin(), whole.begin() + 990 * 2, whole.begin() + 4000 * 2));
  EXPECT_FALSE(std::equal(whole.begin() + 2000, whole.begin() + 4000, whole.begin() + 4000 * 2));
  fill(2, {});
  for (std::int64_t i = period; i < elements; ++i)
    ASSERT_TRUE(out[static_cast<std::size_t>(i * 2)] ==
                out[static_cast<std::size_t>(i % period * 2)])
        << i;
}

TEST(Held, ReachedRowsAreThoseThatTheIndicesName) {
  const std::vector<std::int64_t> indices = {7, -1, 2, 3, 7, 9, 10, -1};
  const std::vector<HeldRun> runs = reached_runs(indices, 10, 4);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].first, 8);
  EXPECT_EQ(runs[0].count, 8);
  EXPECT_EQ(runs[1].first, 28);
  EXPECT_EQ(runs[1].count, 4);
  EXPECT_EQ(runs[2].first, 36);
  EXPECT_EQ(runs[2].count, 4);
  EXPECT_TRUE(reached_runs({}, 10, 4).empty());
}

} // namespace
} // namespace kw
