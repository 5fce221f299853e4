// SPDX-License-Identifier: Apache-2.0
#include "face/cli/duration.hpp"

#include <gtest/gtest.h>

namespace kw::cli {
namespace {

TEST(Duration, ReadsUnits) {
  EXPECT_EQ(*parse_duration("90"), 90);
  EXPECT_EQ(*parse_duration("1.5m"), 90);
  EXPECT_EQ(*parse_duration("2h"), 7200);
}

TEST(Duration, RefusesNonsense) {
  for (const char* bad : {"", "s", "-5s", "0", "5 m", "1d", "nan"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Duration, HasAnEnd) {
  EXPECT_EQ(*parse_duration("720h"), 30 * 24 * 3600);
  EXPECT_FALSE(parse_duration("721h"));
  EXPECT_FALSE(parse_duration("inf"));
}

} // namespace
} // namespace kw::cli
