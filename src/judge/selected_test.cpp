// SPDX-License-Identifier: Apache-2.0
#include "judge/selected.hpp"

#include "tensor/convert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;

/// Two rows of four candidates, two places each.
BoundOutput output() {
  BoundOutput o{.name = "best", .dtype = DType::int32, .shape = {2, 2}, .elements = 4, .row = 2};
  o.tolerance.eta = 4;
  o.selection = BoundSelection{.rows = 2, .n = 4};
  return o;
}

const std::vector<double> ids{10, 11, 12, 13, 7, -1, -1, -1},
    scores{1, 2, 1 + 6 * 0x1p-24, 0, 0, 0, 0, 0}, magnitudes(8, 1.0);

Expected::Tensor expected() {
  Expected::Tensor t;
  t.ids = ids, t.scores = scores, t.magnitude = magnitudes;
  return t;
}

SelectionResult check(const std::vector<double>& got, double eta) {
  std::vector<std::byte> stored(byte_size(DType::int32, 4));
  from_double(DType::int32, got, stored);
  return check_ids(output(), stored, expected(), eta);
}

TEST(Selected, OutputsAreHeldAgainstTheScoresOfTheirCandidates) {
  EXPECT_EQ(check({12, 11, 7, -1}, 1).bad, 0U);
  EXPECT_EQ(check({12, 11, 7, -1}, 1).contested, 1U) << "the other row takes all it has";
  EXPECT_EQ(check({10, 11, 7, -1}, 4).bad, 0U) << "within the errors of both";
  EXPECT_EQ(check({10, 11, 7, -1}, 4).other, 1U);
  EXPECT_EQ(check({10, 11, 7, -1}, 2).fault, SelectionFault::not_greatest);
  EXPECT_EQ(check({12, 11, 7, 7}, 4).fault, SelectionFault::padding);
}

TEST(Selected, TheOracleGivesThreeArraysOfCandidates) {
  EXPECT_THAT(oracle_bytes(output(), true), ElementsAre(64, 64, 64));
  BoundOutput plain = output();
  plain.selection.reset();
  EXPECT_THAT(oracle_bytes(plain, true), ElementsAre(32, 32));
  EXPECT_THAT(oracle_bytes(plain, false), ElementsAre(32));
  EXPECT_THAT(*chosen_of(output(), expected()), ElementsAre(11, 12, 7, -1));
}

} // namespace
} // namespace kw
