// SPDX-License-Identifier: Apache-2.0
#include "tensor/sampling.hpp"

#include <cmath>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace kw {
namespace {

using testing::HasSubstr;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// One row of probabilities and one place.
SamplingResult checked(const std::vector<double>& p, std::int32_t place, double top_p = 1,
                       double share = 0) {
  std::vector<float> logits;
  for (const double v : p)
    logits.push_back(v > 0 ? static_cast<float>(std::log(v)) : minus_infinity);
  SamplingData data;
  data.logits = std::as_bytes(std::span(logits));
  data.places = std::as_bytes(std::span(&place, 1));
  data.rows = 1, data.n = static_cast<std::int64_t>(p.size());
  data.top_p = top_p;
  return check_sampling(data, [&](std::int64_t) { return share; });
}

TEST(Sampling, MassBeforeADrawInEitherOrder) {
  const SamplingResult r = checked({0.2, 0.5, 0.3}, 2);
  ASSERT_EQ(r.bad, 0u);
  ASSERT_EQ(r.draws.size(), 1u);
  EXPECT_EQ(r.draws[0].place, 2);
  EXPECT_NEAR(r.draws[0].by_rank, 0.5, 1e-6);
  EXPECT_NEAR(r.draws[0].by_place, 0.7, 1e-6);
  EXPECT_NEAR(r.draws[0].again, 0.04 + 0.25 + 0.09, 1e-6);
  const SamplingResult half = checked({0.2, 0.5, 0.3}, 2, 1, 0.5);
  EXPECT_NEAR(half.draws[0].by_rank, 0.65, 1e-6) << "half of its own share on top";
  EXPECT_NEAR(half.draws[0].by_place, 0.85, 1e-6);
}

TEST(Sampling, TopPKeepsWhatCrossesIt) {
  // 0.5 and 0.3 are kept, since 0.5 is below 0.6; the kept mass is 0.8.
  EXPECT_EQ(checked({0.2, 0.5, 0.3}, 1, 0.6).bad, 0u);
  const SamplingResult kept = checked({0.2, 0.5, 0.3}, 2, 0.6);
  ASSERT_EQ(kept.bad, 0u);
  EXPECT_NEAR(kept.draws[0].by_rank, 0.5 / 0.8, 1e-6);
  const SamplingResult cut = checked({0.2, 0.5, 0.3}, 0, 0.6);
  EXPECT_EQ(cut.bad, 1u);
  EXPECT_EQ(cut.fault, SamplingFault::outside_top_p);
  EXPECT_EQ(cut.want, 1);
  EXPECT_THAT(cut.words, HasSubstr("have 0.8 of the mass already, and top-p is 0.6"));
  EXPECT_EQ(checked({0.2, 0.5, 0.3}, 0, 0.8 - 5e-5).bad, 0u) << "within the slack of float sums";
  EXPECT_EQ(checked({0.2, 0.5, 0.3}, 0, 0.8 - 2e-4).bad, 1u);
}

TEST(Sampling, EqualLogitsAtTheEndAreAllRightAndSayNothing) {
  const std::vector<double> p{0.4, 0.2, 0.2, 0.2};
  for (std::int32_t place = 0; place < 4; ++place) {
    const SamplingResult r = checked(p, place, 0.7);
    EXPECT_EQ(r.bad, 0u) << place;
    EXPECT_TRUE(r.draws.empty()) << "whether two or three of them are kept is the sampler's";
  }
  EXPECT_EQ(checked(p, 2, 1).draws.size(), 1u);
  EXPECT_EQ(checked(p, 0, 0.3).draws.size(), 1u) << "the tie is not at the end";
}

TEST(Sampling, LogitsThatOnlyDifferBelowTheirExponentialsAreEqual) {
  std::vector<float> logits(10);
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(i) * 1e-39F;
  for (std::int32_t place = 0; place < 10; ++place) {
    SamplingData data;
    data.logits = std::as_bytes(std::span(logits));
    data.places = std::as_bytes(std::span(&place, 1));
    data.rows = 1, data.n = 10;
    data.top_p = 0.55;
    const SamplingResult r = check_sampling(data, [](std::int64_t) { return 0.0; });
    EXPECT_EQ(r.bad, 0u) << place;
    EXPECT_TRUE(r.draws.empty());
  }
}

TEST(Sampling, PlacesThatCannotBeDrawn) {
  EXPECT_EQ(checked({0.5, 0.5}, 2).fault, SamplingFault::out_of_range);
  EXPECT_EQ(checked({0.5, 0.5}, -1).fault, SamplingFault::out_of_range);
  const SamplingResult masked = checked({0.5, 0.5, 0}, 2);
  EXPECT_EQ(masked.fault, SamplingFault::impossible);
  EXPECT_THAT(masked.words, HasSubstr("logits[2] = -inf has a probability of 0"));
  EXPECT_EQ(checked({1, 1e-25}, 1).bad, 0u) << "unlikely is not impossible";
  EXPECT_EQ(checked({1, 1e-31}, 1).bad, 1u);
}

TEST(Sampling, TheFirstBadRowIsNamed) {
  const std::vector<float> logits{0, 0, 0, minus_infinity, 0, minus_infinity};
  const std::vector<std::int32_t> places{1, 1, 1};
  SamplingData data;
  data.logits = std::as_bytes(std::span(logits));
  data.places = std::as_bytes(std::span(places));
  data.rows = 3, data.n = 2;
  const SamplingResult r = check_sampling(data, [](std::int64_t) { return 0.5; });
  EXPECT_EQ(r.rows, 3u);
  EXPECT_EQ(r.bad, 2u);
  EXPECT_EQ(r.first_bad, 1u);
  EXPECT_EQ(r.draws.size(), 1u);
}

} // namespace
} // namespace kw
