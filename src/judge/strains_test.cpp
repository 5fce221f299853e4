// SPDX-License-Identifier: Apache-2.0
#include "judge/strains.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Strains, APlaceKeepsItsGreatest) {
  Strains strains;
  strains.note(0, InputClass::normal, 0.3);
  strains.note(0, InputClass::normal, 0.1);
  const auto places = strains.greatest(8);
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].strain, 0.3);
}

TEST(Strains, GreatestFirstAndNoMoreThanAskedFor) {
  Strains strains;
  strains.note(0, InputClass::normal, 0.1);
  strains.note(1, InputClass::normal, 0.9);
  strains.note(1, InputClass::ties, 0.5);
  const auto places = strains.greatest(2);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].workload, 1U);
  EXPECT_EQ(places[0].input_class, InputClass::normal);
  EXPECT_EQ(places[1].input_class, InputClass::ties);
}

TEST(Strains, EqualStrainsStayInTheOrderOfTheTrials) {
  Strains strains;
  strains.note(2, InputClass::sorted, 0);
  strains.note(0, InputClass::normal, 0);
  const auto places = strains.greatest(1);
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].workload, 2U);
}

} // namespace
} // namespace kw
