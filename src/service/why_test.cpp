// SPDX-License-Identifier: Apache-2.0
#include "service/why.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Why, NamesWhatChanged) {
  EXPECT_THAT(changed_parameters("space=rows U=1 R=2", "space=rows U=4 R=2"),
              ElementsAre("U: 1 -> 4"));
  EXPECT_THAT(changed_parameters("space=plain LANES=16", "space=rows U=4"),
              ElementsAre("space: plain -> rows", "U: 4"));
  EXPECT_THAT(changed_parameters("a kernel by hand", "U=4"), ElementsAre("U: 4"));
  EXPECT_TRUE(changed_parameters("U=1", "no parameters = at all").empty());
}

TEST(Why, SaysWhatWasDecidedAndFromWhat) {
  Why why;
  why.probe.decision = "archive";
  why.probe.reason = "screen: 0.960x of the champion";
  why.probe.estimate = 0.5;
  why.probe.regime = "M <= 2";
  why.probe.proposer = "tuner";
  why.probe.hypothesis = "U=4";
  why.probe.direction = "more-chains";
  why.against = "U=1";
  why.changed = {"U: 1 -> 4"};
  const std::vector<std::string> said = sentences(why);
  EXPECT_EQ(said.front(), "archived only: screen: 0.960x of the champion");
  EXPECT_THAT(said, Contains(HasSubstr("1.65x of the baseline where M <= 2")));
  EXPECT_THAT(said, Contains(HasSubstr("direction more-chains: ")));
  EXPECT_THAT(said, Contains("compared with U=1; it changes U: 1 -> 4"));
}

TEST(Why, AFailureNamesItsFinding) {
  Why why;
  why.probe.decision = "reject";
  why.probe.reason = "3 elements are wrong";
  why.probe.verdict.finding = Finding::wrong;
  why.probe.regime = "all";
  EXPECT_THAT(sentences(why), Contains("finding REJECT_WRONG"));
  EXPECT_THAT(sentences(why), Contains(HasSubstr("compared with the baseline")));
}

} // namespace
} // namespace kw
