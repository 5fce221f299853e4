// SPDX-License-Identifier: Apache-2.0
// Samplers that are right and samplers that are not, as numbers: what a campaign of either says.
#include "judge/drawn.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace kw {
namespace {

using testing::HasSubstr;

constexpr std::int64_t rows = 64, n = 40;
constexpr int calls = 200;

struct Campaign {
  std::mt19937_64 inputs{3}, sampler{4}, judge{5};
  std::vector<float> logits = std::vector<float>(static_cast<std::size_t>(rows * n));
  DrawTally tally;

  static double uniform(std::mt19937_64& random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;
  }

  std::vector<Draw> one(const std::function<double(std::int64_t row)>& u, float temperature,
                        bool fresh) {
    std::normal_distribution<float> z;
    if (fresh)
      for (float& l : logits)
        l = 2 * z(inputs);
    std::vector<std::int32_t> places;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<double> p;
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i)
        sum += p.emplace_back(std::exp(logits[static_cast<std::size_t>(r * n + i)] / temperature));
      double left = u(r) * sum;
      std::int32_t place = 0;
      while (place + 1 < n && left >= p[static_cast<std::size_t>(place)])
        left -= p[static_cast<std::size_t>(place++)];
      places.push_back(place);
    }
    SamplingData data;
    data.logits = std::as_bytes(std::span(logits));
    data.places = std::as_bytes(std::span(places));
    data.rows = rows, data.n = n;
    return check_sampling(data, [&](std::int64_t) { return uniform(judge); }).draws;
  }

  DrawEvidence run(const std::function<double(int call, std::int64_t row)>& u,
                   float temperature = 1) {
    for (int c = 0; c < calls; ++c) {
      const std::vector<Draw> draws =
          one([&](std::int64_t r) { return u(c, r); }, temperature, true);
      tally.add("w", draws);
      if (c % 20 == 0) // with another seed
        tally.add_reseeded(
            draws, one([&](std::int64_t r) { return u(calls + c, r); }, temperature, false));
    }
    return tally.evidence();
  }
};

double share_of(std::uint64_t key) {
  std::mt19937_64 random(key);
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

TEST(DrawTally, ARightSamplerPasses) {
  Campaign c;
  const DrawEvidence e = c.run([&](int, std::int64_t) { return Campaign::uniform(c.sampler); });
  EXPECT_EQ(draws_fault(e), "");
  EXPECT_EQ(e.draws, static_cast<std::uint64_t>(calls * rows));
  for (const DrawTest& t : e.tests)
    EXPECT_TRUE(t.asked) << t.name;
  EXPECT_THAT(draws_sentence(e), HasSubstr("12800 draws follow the probabilities"));
}

TEST(DrawTally, ASharperTemperatureIsSeen) {
  Campaign c;
  const DrawEvidence e =
      c.run([&](int, std::int64_t) { return Campaign::uniform(c.sampler); }, 0.9F);
  EXPECT_THAT(draws_fault(e), HasSubstr("(probability test"));
  EXPECT_THAT(draws_fault(e), HasSubstr("the most probable quarter of the mass has 2"));
}

TEST(DrawTally, TheBackOfTheRowIsMissed) {
  Campaign c;
  const DrawEvidence e =
      c.run([&](int, std::int64_t) { return 0.9 * Campaign::uniform(c.sampler); });
  EXPECT_LT(e.tests[4].p, 1e-100) << "place";
}

TEST(DrawTally, OneNumberForAllRows) {
  Campaign c;
  const DrawEvidence e =
      c.run([&](int call, std::int64_t) { return share_of(static_cast<std::uint64_t>(call)); });
  EXPECT_LT(e.tests[2].p, e.alarm) << "rows";
}

TEST(DrawTally, ASeedThatIsNotRead) {
  Campaign c;
  const DrawEvidence by_row =
      c.run([&](int, std::int64_t row) { return share_of(static_cast<std::uint64_t>(row)); });
  EXPECT_LT(by_row.tests[1].p, by_row.alarm) << "calls";
  EXPECT_LT(by_row.tests[0].p, by_row.alarm) << "seed";
  // Random from call to call, but the same again on the same logits: only another seed shows it.
  Campaign d;
  const DrawEvidence by_input = d.run([&](int call, std::int64_t row) {
    return share_of(static_cast<std::uint64_t>(call % calls * 1000 + row));
  });
  EXPECT_LT(by_input.tests[0].p, by_input.alarm) << "seed";
  for (int t = 1; t < 5; ++t)
    EXPECT_GT(by_input.tests[static_cast<std::size_t>(t)].p, by_input.alarm) << t;
  EXPECT_THAT(draws_fault(by_input), HasSubstr("640 of 640 draws from the same logits"));
}

TEST(DrawTally, FewDrawsAreNoAnswer) {
  DrawTally tally;
  EXPECT_TRUE(tally.empty());
  const Draw d{.row = 0, .place = 1, .by_rank = 0, .by_place = 0, .again = 0.5};
  tally.add("w", {&d, 1});
  const DrawEvidence e = tally.evidence();
  EXPECT_EQ(draws_fault(e), "");
  EXPECT_THAT(draws_sentence(e), HasSubstr("too few"));
}

} // namespace
} // namespace kw
