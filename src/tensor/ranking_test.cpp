// SPDX-License-Identifier: Apache-2.0
#include "tensor/ranking.hpp"

#include "tensor/convert.hpp"
#include "tensor/generate.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace kw {
namespace {

using testing::HasSubstr;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::byte> stored(DType t, const std::vector<double>& x) {
  std::vector<std::byte> out(byte_size(t, static_cast<std::int64_t>(x.size())));
  from_double(t, x, out);
  return out;
}

/// Rows of equal length; without `values` there is no such output.
RankingResult check(const std::vector<double>& scores, const std::vector<double>& places,
                    const std::vector<double>& values = {}, std::int64_t rows = 1,
                    DType dtype = DType::float32) {
  const std::vector<std::byte> s = stored(dtype, scores), p = stored(DType::int32, places),
                               v = stored(dtype, values);
  RankingData data;
  data.scores_dtype = dtype;
  data.scores = s, data.places = p, data.values = v;
  data.rows = rows;
  data.n = static_cast<std::int64_t>(scores.size()) / rows;
  data.k = static_cast<std::int64_t>(places.size()) / rows;
  return check_ranking(data);
}

const std::vector<double> row{3, 9, 4, 7, 1};

TEST(Ranking, TheRightAnswerIsRight) {
  const RankingResult r = check(row, {1, 3, 2}, {9, 7, 4});
  EXPECT_EQ(r.bad, 0U);
  EXPECT_EQ(r.rows, 1U);
  EXPECT_EQ(r.elements, 3U);
  EXPECT_EQ(r.words, "");
  EXPECT_EQ(r.fault, RankingFault::none);
  EXPECT_EQ(check(row, {1, 3, 2}).bad, 0U) << "places alone";
  EXPECT_EQ(check(row, {1, 3, 2, 0, 4}).bad, 0U) << "k = n";
  EXPECT_EQ(check(row, {1}).bad, 0U) << "k = 1";
}

TEST(Ranking, PlacesLieInTheirRow) {
  for (const double outside : {-1.0, 5.0, 2147483647.0, -2147483648.0}) {
    const RankingResult r = check(row, {1, outside, 2});
    EXPECT_EQ(r.fault, RankingFault::out_of_range) << outside;
    EXPECT_EQ(r.first_bad, 1U);
    EXPECT_EQ(r.got, outside);
    EXPECT_EQ(r.want, 3);
    EXPECT_THAT(r.words, HasSubstr("is outside [0, 5)"));
  }
  // A place of the neighbouring row is outside, too.
  const RankingResult second = check({3, 9, 4, 7, 1, 2}, {1, 2, 1, 4}, {}, 2);
  EXPECT_EQ(second.fault, RankingFault::out_of_range);
  EXPECT_EQ(second.first_bad, 3U);
}

TEST(Ranking, NoPlaceTwice) {
  const RankingResult r = check({5, 5, 5, 1}, {1, 0, 1}, {5, 5, 5});
  EXPECT_EQ(r.fault, RankingFault::repeated);
  EXPECT_EQ(r.words, "place 1 appears twice, as number 0 and 2");
  EXPECT_EQ(r.bad, 1U);
  EXPECT_EQ(check({5, 5, 5, 1}, {2, 0, 1}, {5, 5, 5}).bad, 0U);
  // The same place in another row is another place.
  EXPECT_EQ(check({5, 5, 5, 5}, {1, 1}, {}, 2).bad, 0U);
}

TEST(Ranking, ValuesBelongToTheirPlaces) {
  const RankingResult r = check(row, {1, 3, 2}, {9, 7, 3});
  EXPECT_EQ(r.fault, RankingFault::other_value);
  EXPECT_EQ(r.words, "x[2] = 4, but `values` has 3 there");
  EXPECT_EQ(check(row, {1, 3, 2}, {9, std::nextafter(7.0F, 8.0F), 4}).bad, 1U) << "one ulp";
}

TEST(Ranking, DescendingOrder) {
  const RankingResult r = check(row, {3, 1, 2}, {7, 9, 4});
  EXPECT_EQ(r.fault, RankingFault::order);
  EXPECT_EQ(r.first_bad, 1U);
  EXPECT_EQ(r.words, "x[1] = 9 stands behind x[3] = 7: not in descending order");
}

TEST(Ranking, NothingGreaterIsLeftOut) {
  const RankingResult r = check(row, {1, 2, 0}, {9, 4, 3});
  EXPECT_EQ(r.fault, RankingFault::not_greatest);
  EXPECT_EQ(r.first_bad, 1U);
  EXPECT_EQ(r.got, 2);
  EXPECT_EQ(r.want, 3);
  EXPECT_THAT(r.words, HasSubstr("x[2] = 4 was taken and x[3] = 7 left out"));
  EXPECT_EQ(check(row, {4, 0, 2}).fault, RankingFault::order) << "order comes first";
  EXPECT_EQ(check(row, {2, 0, 4}).bad, 2U) << "9 and 7 are missing";
}

TEST(Ranking, OneUlpDecides) {
  const double low = 31.995, high = std::nextafter(static_cast<float>(low), 40.0F);
  const RankingResult r = check({low, 1, high}, {0}, {low});
  EXPECT_EQ(r.fault, RankingFault::not_greatest);
  EXPECT_THAT(r.words, HasSubstr("greater by 1 steps of float32"));
  const RankingResult right = check({low, 1, high}, {2}, {high});
  EXPECT_EQ(right.bad, 0U);
  EXPECT_EQ(right.least_margin, 1);
  EXPECT_EQ(right.tied_rows, 0U);
}

TEST(Ranking, OfEqualElementsAnyInAnyOrder) {
  const std::vector<double> tied{2, 7, 2, 9, 2, 7};
  for (const std::vector<double>& places :
       {std::vector<double>{3, 1, 5, 0}, {3, 5, 1, 0}, {3, 1, 5, 2}, {3, 5, 1, 4}}) {
    const RankingResult r = check(tied, places);
    EXPECT_EQ(r.bad, 0U) << r.words;
    EXPECT_EQ(r.tied_rows, 1U);
    EXPECT_EQ(r.least_margin, inf) << "a tie is no margin";
  }
  EXPECT_EQ(check(tied, {3, 1, 0, 2}).fault, RankingFault::not_greatest);
  EXPECT_EQ(check(tied, {3, 1, 5}).tied_rows, 0U) << "the tie is not at the boundary";
  EXPECT_EQ(check({4, 4, 4, 4}, {3, 1}).bad, 0U);
}

TEST(Ranking, ZerosAreEqualAndInfinitiesExtreme) {
  for (const std::vector<double>& places : {std::vector<double>{0, 1}, {1, 0}, {2, 0}})
    EXPECT_EQ(check({-0.0, 0.0, 0.0, -1e-40}, places).bad, 0U);
  EXPECT_EQ(check({-0.0, 1, -1}, {1, 0}, {1, 0.0}).bad, 0U) << "+0 stands for -0";
  EXPECT_EQ(check({-0.0, 0, 1e-45}, {0}).fault, RankingFault::not_greatest);
  EXPECT_EQ(check({-inf, 3, inf, 1}, {2, 1}, {inf, 3}).bad, 0U);
  EXPECT_EQ(check({-inf, -inf, 3}, {2, 1}).bad, 0U);
  EXPECT_EQ(check({-inf, -inf, 3}, {2, 1}).tied_rows, 1U);
  EXPECT_EQ(check({-inf, -1e38, 3}, {2, 0}).fault, RankingFault::not_greatest);
  EXPECT_EQ(check({inf, 3}, {0}).least_margin, inf);
}

TEST(Ranking, NaNIsAboveAll) {
  EXPECT_EQ(check({1, nan, inf}, {1, 2}, {nan, inf}).bad, 0U);
  EXPECT_EQ(check({1, nan, inf}, {2, 1}).fault, RankingFault::order);
  EXPECT_EQ(check({1, nan, inf}, {2, 0}).fault, RankingFault::not_greatest);
  EXPECT_EQ(check({nan, 1, nan}, {2, 0}).bad, 0U);
  EXPECT_EQ(check({nan, 1, nan}, {2}).tied_rows, 1U);
  EXPECT_EQ(check({1, 2}, {1}, {nan}).fault, RankingFault::other_value);
}

TEST(Ranking, FaultsOfAllRowsAreCounted) {
  const std::vector<double> scores{3, 9, 4, 5, 5, 1, 8, 2, 6};
  const RankingResult r = check(scores, {1, 2, 0, 0, 2, 0}, {}, 3);
  EXPECT_EQ(r.rows, 3U);
  EXPECT_EQ(r.bad_rows, 2U);
  EXPECT_EQ(r.bad, 2U);
  EXPECT_EQ(r.fault, RankingFault::repeated) << "the first";
  EXPECT_EQ(r.first_bad, 3U);
}

TEST(Ranking, MarginIsTheLeastOfAllRows) {
  const double next = std::nextafter(1.0F, 2.0F);
  const RankingResult r = check({1, 8, 4, 1, next, 0, 2, 2, 1}, {1, 1, 0}, {}, 3);
  EXPECT_EQ(r.bad, 0U) << r.words;
  EXPECT_EQ(r.least_margin, 1);
  EXPECT_EQ(r.tied_rows, 1U);
}

TEST(Ranking, StepsAreThoseOfTheType) {
  EXPECT_EQ(steps_between(DType::float32, 1, 1 + 0x1p-23), 1);
  EXPECT_EQ(steps_between(DType::float32, 32, 31.99999809265136719), 1);
  EXPECT_EQ(steps_between(DType::bfloat16, 1, 1 + 0x1p-7), 1);
  EXPECT_EQ(steps_between(DType::float32, 0, 0x1p-149), 1);
  EXPECT_EQ(steps_between(DType::float32, -0x1p-149, 0x1p-149), 2);
  EXPECT_EQ(steps_between(DType::float32, inf, 1), inf);
}

TEST(Ranking, AgreesWithSortingOnHardRows) {
  DrawSpec spec;
  spec.shape = {200, 61};
  spec.ranked = 8;
  std::vector<std::byte> bytes(200 * 61 * sizeof(float));
  draw(spec, InputClass::near_ties, Seed{7}, 3, 0, bytes);
  std::vector<double> all(200 * 61);
  to_double(DType::float32, bytes, all);
  std::mt19937_64 random(5);
  std::uint64_t wrong = 0;
  for (std::size_t r = 0; r < 200; ++r) {
    const std::vector<double> scores(all.begin() + static_cast<std::ptrdiff_t>(r * 61),
                                     all.begin() + static_cast<std::ptrdiff_t>((r + 1) * 61));
    std::vector<double> order(61);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const auto at = [&](double place) { return scores[static_cast<std::size_t>(place)]; };
    std::stable_sort(order.begin(), order.end(), [&](double a, double b) { return at(a) > at(b); });
    std::vector<double> places(order.begin(), order.begin() + 8);
    EXPECT_EQ(check(scores, places).bad, 0U) << r;
    // The last one replaced by another: wrong exactly if that is smaller.
    places[7] = order[8 + random() % 20];
    const bool smaller = at(places[7]) < at(order[7]);
    EXPECT_EQ(check(scores, places).bad != 0, smaller) << r;
    wrong += smaller;
  }
  EXPECT_GT(wrong, 50U);
}

} // namespace
} // namespace kw
