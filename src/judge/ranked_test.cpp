// SPDX-License-Identifier: Apache-2.0
#include "judge/ranked.hpp"

#include "tensor/convert.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::byte> stored(DType t, const std::vector<double>& x) {
  std::vector<std::byte> out(byte_size(t, static_cast<std::int64_t>(x.size())));
  from_double(t, x, out);
  return out;
}

/// Two rows of four, k places each, the values first.
BoundWorkload workload(std::int64_t k) {
  BoundWorkload w;
  w.inputs.push_back({.name = "scores", .draw = {.dtype = DType::float32, .shape = {2, 4}}});
  BoundOutput values{.name = "best", .shape = {2, k}, .elements = 2 * k, .row = k};
  BoundOutput places = values;
  places.name = "at";
  places.dtype = DType::int32;
  places.ranking = BoundRanking{.input = 0, .values = 0, .rows = 2, .n = 4};
  w.outputs = {values, places};
  return w;
}

const std::vector<double> scores{1, 5, 3, 5, 2, 2, 9, 2};

RankingResult check(const std::vector<double>& values, const std::vector<double>& places) {
  const std::vector<std::byte> v = stored(DType::float32, values), p = stored(DType::int32, places),
                               s = stored(DType::float32, scores);
  const std::vector<std::span<const std::byte>> outputs{v, p};
  return check_places(workload(2), 1, outputs, s);
}

TEST(Ranked, OutputsAreHeldAgainstTheInputTheyRank) {
  EXPECT_EQ(check({5, 5, 9, 2}, {1, 3, 2, 0}).bad, 0U);
  EXPECT_EQ(check({5, 5, 9, 2}, {3, 1, 2, 3}).bad, 0U);
  const RankingResult other = check({5, 5, 9, 3}, {1, 3, 2, 0});
  EXPECT_EQ(other.first_bad, 3U);
  EXPECT_EQ(other.words, "scores[0] = 2, but `best` has 3 there");
  EXPECT_EQ(check({5, 3, 9, 2}, {1, 2, 2, 0}).fault, RankingFault::not_greatest);
}

TEST(Ranked, EvidenceCountsTiesAndOtherOrders) {
  const BoundWorkload w = workload(2);
  const std::vector<double> oracle{1, 3, 2, 0};
  const auto evidence_of = [&](const std::vector<double>& places) {
    return evidence(check({5, 5, 9, 2}, places), w.outputs[1], stored(DType::int32, places),
                    oracle);
  };
  const RankingEvidence same = evidence_of({1, 3, 2, 0}), other = evidence_of({3, 1, 2, 1});
  EXPECT_EQ(same.rows, 2U);
  EXPECT_EQ(same.tied, 1U) << "2, 2, 2 at the boundary; 5, 5 are both above it";
  EXPECT_EQ(same.reordered, 0U);
  EXPECT_EQ(other.reordered, 2U);
  EXPECT_EQ(same.least_margin, 2 / 0x1p-22) << "5 and 3, counted in ulps of 3";
}

TEST(Ranked, EvidenceOfTrialsAddsUp) {
  std::optional<RankingEvidence> sum;
  add(sum, std::nullopt);
  EXPECT_FALSE(sum);
  add(sum, RankingEvidence{10, 1, 2, 0});
  add(sum, RankingEvidence{10, 1, 2, 8});
  add(sum, RankingEvidence{10, 0, 0, 3});
  add(sum, RankingEvidence{10, 10, 0, 0});
  EXPECT_EQ(sum->rows, 40U);
  EXPECT_EQ(sum->tied, 12U);
  EXPECT_EQ(sum->reordered, 4U);
  EXPECT_EQ(sum->least_margin, 3) << "0 is none";
  EXPECT_EQ(ranking_sentence({{.uuid = "plain"}}), "");
  EXPECT_THAT(ranking_sentence({{.uuid = "plain"}, {.uuid = "a", .ranking = sum}}),
              HasSubstr("40, 12 of them tied at the boundary; 4 answered in another"));
}

/// A constant place is told from right ones only by rows that have one right answer.
TEST(Ranked, RowsWithOneAnswer) {
  const std::vector<std::byte> s = stored(DType::float32, scores);
  EXPECT_THAT(only_answers(workload(1), 1, s, std::vector<double>{1, 2}), ElementsAre(2));
  EXPECT_THAT(only_answers(workload(2), 1, s, std::vector<double>{1, 3, 2, 0}), ElementsAre(1, 3));
}

} // namespace
} // namespace kw
