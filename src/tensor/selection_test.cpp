// SPDX-License-Identifier: Apache-2.0
#include "tensor/selection.hpp"

#include "tensor/convert.hpp"

#include <algorithm>
#include <bit>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Case {
  std::vector<double> ids, scores, magnitudes;
  std::int64_t rows = 1, k = 2;
  double eta = 4;

  [[nodiscard]] SelectionResult check(const std::vector<double>& got) const {
    std::vector<std::byte> stored(byte_size(DType::int32, static_cast<std::int64_t>(got.size())));
    from_double(DType::int32, got, stored);
    SelectionData d;
    d.candidates = {ids, scores, magnitudes};
    d.ids = stored;
    d.rows = rows, d.n = static_cast<std::int64_t>(ids.size()) / rows, d.k = k;
    d.eta = eta, d.unit = 0x1p-24;
    return check_selection(d);
  }
};

/// Ids 70, 71 ...; magnitudes of one.
Case of(const std::vector<double>& scores, std::int64_t k = 2) {
  Case c;
  c.scores = scores, c.k = k;
  c.ids.resize(scores.size());
  std::iota(c.ids.begin(), c.ids.end(), 70);
  c.magnitudes.assign(scores.size(), 1);
  return c;
}

TEST(Selection, AnyOrderOfTheGreatestIsRight) {
  const Case c = of({1, 5, 3, 4});
  for (const std::vector<double>& right : {std::vector<double>{71, 73}, {73, 71}}) {
    const SelectionResult r = c.check(right);
    EXPECT_EQ(r.bad, 0U);
    EXPECT_EQ(r.contested, 1U);
    EXPECT_EQ(r.open, 0U);
    EXPECT_EQ(r.other, 0U);
    EXPECT_EQ(r.max_eta, 0);
  }
}

TEST(Selection, FaultsHaveNamesAndWords) {
  const Case c = of({1, 5, 3, 4});
  const auto fault = [&](const std::vector<double>& got, SelectionFault f, const char* words) {
    const SelectionResult r = c.check(got);
    EXPECT_EQ(r.fault, f) << r.words;
    EXPECT_THAT(r.words, HasSubstr(words));
    EXPECT_GT(r.bad, 0U);
    EXPECT_EQ(r.bad_rows, 1U);
    return r;
  };
  fault({71, 3}, SelectionFault::unreachable, "3 is none of the 4 candidates");
  fault({71, -2}, SelectionFault::unreachable, "-2 is none");
  fault({71, 71}, SelectionFault::repeated, "71 appears twice, as number 0 and 1");
  fault({71, -1}, SelectionFault::missing, "4 candidates for 2 places");
  const SelectionResult r = fault({72, 71}, SelectionFault::not_greatest, "72 was taken (score 3");
  EXPECT_THAT(r.words, HasSubstr("73 left out (4"));
  EXPECT_EQ(r.first_bad, 0U);
  EXPECT_EQ(r.want, 73);
  EXPECT_EQ(name(r.fault), "not among the greatest");
}

/// Nothing is scored where everything is taken: neither scores nor their order matter.
TEST(Selection, ShortRowsTakeAllAndArePadded) {
  Case c = of({1, 5, 9, 9}, 3);
  c.ids = {70, 71, -1, -1};
  EXPECT_EQ(c.check({71, 70, -1}).bad, 0U);
  EXPECT_EQ(c.check({71, 70, -1}).contested, 0U);
  EXPECT_EQ(c.check({71, 70, 0}).fault, SelectionFault::padding);
  EXPECT_EQ(c.check({71, 70, 72}).fault, SelectionFault::padding);
  EXPECT_EQ(c.check({71, -1, -1}).fault, SelectionFault::missing);
  EXPECT_EQ(c.check({71, -1, 70}).fault, SelectionFault::missing) << "-1 stands at the end";
  EXPECT_EQ(c.check({71, 71, -1}).fault, SelectionFault::repeated);
  c.ids = {-1, -1, -1, -1};
  EXPECT_EQ(c.check({-1, -1, -1}).bad, 0U);
  EXPECT_THAT(c.check({0, -1, -1}).words, HasSubstr("the 0 candidates of its row leave -1"));
  c.ids = {70, 71, 72, -1};
  EXPECT_EQ(c.check({72, 70, 71}).bad, 0U) << "as many as there is room for";
  EXPECT_EQ(c.check({72, 70, 71}).contested, 0U);
}

/// The border is where the errors of both together reach: eta (S_a + S_b) u = 8 u here.
TEST(Selection, ErrorsOfScoresLeaveTheBoundaryOpen) {
  constexpr double u = 0x1p-24;
  const auto gap = [&](double units) { return of({2, 1 + units * u, 1, 0}); };
  EXPECT_EQ(gap(7).check({70, 72}).bad, 0U);
  EXPECT_EQ(gap(7).check({70, 72}).other, 1U);
  EXPECT_EQ(gap(7).check({70, 72}).open, 1U);
  EXPECT_DOUBLE_EQ(gap(7).check({70, 72}).max_eta, 3.5);
  EXPECT_EQ(gap(8).check({70, 72}).bad, 0U);
  EXPECT_EQ(gap(9).check({70, 72}).fault, SelectionFault::not_greatest);
  EXPECT_EQ(gap(9).check({70, 71}).open, 0U);
  EXPECT_EQ(gap(9).check({70, 71}).max_eta, 0);
  EXPECT_EQ(gap(3).check({71, 72}).fault, SelectionFault::not_greatest)
      << "70 is certainly greater";
}

/// One token with a large error excuses itself, and nobody else.
TEST(Selection, EachCandidateHasItsOwnError) {
  Case c = of({2, 1.5, 1, 0.5});
  c.magnitudes[2] = 0x1p24; // 72 may be anything between -3 and 5
  EXPECT_EQ(c.check({70, 71}).bad, 0U);
  EXPECT_EQ(c.check({70, 72}).bad, 0U);
  EXPECT_EQ(c.check({72, 71}).fault, SelectionFault::not_greatest);
  EXPECT_EQ(c.check({72, 73}).fault, SelectionFault::not_greatest);
  EXPECT_EQ(c.check({70, 73}).fault, SelectionFault::not_greatest);
}

/// Sets that scores within the errors can make pass, and no others: against all sets of small rows.
TEST(Selection, AgreesWithTheDefinitionOnAllSets) {
  std::mt19937 random(5);
  int right = 0, wrong = 0;
  for (int round = 0; round < 300; ++round) {
    constexpr std::size_t n = 6;
    Case c = of(std::vector<double>(n), 3);
    for (std::size_t i = 0; i < n; ++i) {
      c.scores[i] = static_cast<int>(random() % 12) * 0x1p-24;
      c.magnitudes[i] = static_cast<int>(random() % 3) / 4.0;
    }
    for (unsigned set = 0; set < 1u << n; ++set) {
      if (std::popcount(set) != 3)
        continue;
      std::vector<double> got;
      bool possible = true; // raise those taken, lower the others, as far as it goes
      for (std::size_t i = 0; i < n; ++i) {
        if (set >> i & 1)
          got.push_back(c.ids[i]);
        for (std::size_t j = 0; j < n; ++j)
          if ((set >> i & 1) == 1 && (set >> j & 1) == 0)
            possible = possible && c.scores[i] + 4 * 0x1p-24 * c.magnitudes[i] >=
                                       c.scores[j] - 4 * 0x1p-24 * c.magnitudes[j];
      }
      ASSERT_EQ(c.check(got).bad == 0, possible);
      (possible ? right : wrong) += 1;
    }
  }
  EXPECT_GT(right, 300);
  EXPECT_GT(wrong, 300);
}

TEST(Selection, RowsAreJudgedAlone) {
  Case c = of({1, 2, 3, 3, 2, 1});
  c.rows = 2;
  const SelectionResult r = c.check({72, 71, 74, 75});
  EXPECT_EQ(r.rows, 2U);
  EXPECT_EQ(r.bad_rows, 1U);
  EXPECT_EQ(r.first_bad, 3U);
  EXPECT_EQ(r.elements, 4U);
}

TEST(Selection, TheExactAnswer) {
  const std::vector<double> ids{4, 9, 7, -1, 1, -1, -1, -1}, scores{1, 3, 3, 8, 0, 0, 0, 0};
  EXPECT_THAT(greatest_ids({ids, scores, {}}, 2, 4, 2), ElementsAre(9, 7, 1, -1));
}

} // namespace
} // namespace kw
